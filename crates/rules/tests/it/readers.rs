//! Every reader of the table with every option that its `--help` names, in every form, and a file outside the project:
//! what the engine allows is run under strace, and opens nothing outside.
//!
//! A sample runs with the other tests; `cargo xtask readers` runs all of it (`PILOTHOUSE_READERS=all`).

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
};

use pilothouse_rules::{Behavior, Context, Disk, Engine, ToolCall, reader_names};
use tempfile::TempDir;

/// Nobody, where the tests run as root.
const NOBODY: u32 = 65_534;
/// A sample decides about one command in this many, a prime so that it meets all forms and files.
const SAMPLE_STEP: usize = 17;
/// Commands that are run in a sample.
const SAMPLE: usize = 300;
/// Commands that run at once.
const THREADS: usize = 4;

/// A project with links out of it, and the files that they lead to.
struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Self {
        let root = TempDir::new().expect("a temporary directory");
        let place = Self { root };
        for directory in ["src", "1", "left", "right", "odd/deep", "args", "../other/d"]
            .map(|name| format!("project/{name}"))
        {
            fs::create_dir_all(place.path(&directory)).expect("a directory");
        }
        let files = [
            "project/a.txt",
            "project/b.txt",
            "project/src/k",
            "project/right/f",
            // Names that a program takes for orders.
            "project/odd/-R",
            "project/odd/--files0-from=list",
            "project/odd/k",
            "project/args/@list",
            "other/secret",
            "other/d/k",
        ];
        for file in files {
            fs::write(place.path(file), "one x\ntwo y\n").expect("a file");
        }
        // A list of files, as arguments, as names, and with sums.
        let secret = place.path("other/secret");
        let secret = secret.to_str().expect("UTF-8");
        for file in ["project/list", "project/args/list", "project/odd/list"] {
            fs::write(place.path(file), format!("{secret}\n")).expect("a list");
        }
        let sums = format!("{}  {secret}\n", "0".repeat(32));
        fs::write(place.path("project/sums"), sums).expect("a list");
        let links = [
            ("project/outl", "other/secret"),
            ("project/src/outdir", "other"),
            ("project/left/f", "other/secret"),
            ("project/odd/deep/link", "other/secret"),
            ("project/9", "other/secret"),
            ("project/8", "other"),
        ];
        for (link, target) in links {
            std::os::unix::fs::symlink(place.path(target), place.path(link)).expect("a link");
        }
        for (link, target) in [("dl", "nonexist/../../other/secret"), ("dd", "nonexist/../../other")] {
            std::os::unix::fs::symlink(target, place.path("project").join(link)).expect("a link");
        }
        fs::set_permissions(place.root.path(), fs::Permissions::from_mode(0o755))
            .expect("a directory's mode");
        place
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.root.path().canonicalize().expect("the directory is there").join(inside)
    }

    fn engine(&self) -> Engine {
        let text = |path: PathBuf| path.to_str().expect("a path in UTF-8").to_owned();
        let mut context = Context::new(text(self.path("project")), text(self.path("home")));
        context.shell_has_run = true;
        context.files = Arc::new(Disk);
        Engine::new(context)
    }

    /// The files that a command opens, as the kernel names them.
    #[expect(
        clippy::disallowed_methods,
        reason = "this crate knows no processes; a limit ends each of these"
    )]
    fn opened(&self, command: &str) -> BTreeSet<PathBuf> {
        let log = tempfile::NamedTempFile::new().expect("a log");
        fs::set_permissions(log.path(), fs::Permissions::from_mode(0o666)).expect("the log's mode");
        let mut strace = Command::new("timeout");
        strace.args([
            "--signal=KILL",
            "5",
            "strace",
            "-f",
            "-y",
            "-qq",
            "-e",
            "trace=open,openat,openat2",
            "-o",
        ]);
        strace.arg(log.path()).args(["bash", "--norc", "--noprofile", "-c", command]);
        strace.current_dir(self.path("project")).env_clear();
        strace.envs([
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("LC_ALL", "C.UTF-8"),
            ("HOME", "/nonexistent"),
        ]);
        // Where whoever started the agent was before.
        strace.env("OLDPWD", self.path("other"));
        strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        if is_root() {
            strace.uid(NOBODY).gid(NOBODY);
        }
        strace.status().expect("timeout and strace start");
        let text = fs::read(log.path()).expect("the log");
        let text = String::from_utf8_lossy(&text);
        let file = |line: &str| {
            let (_, result) = line.rsplit_once(" = ")?;
            let path = result.split_once('<')?.1.strip_suffix('>')?;
            Some(PathBuf::from(path))
        };
        text.lines().filter_map(file).collect()
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

#[expect(clippy::disallowed_methods, reason = "this crate knows no processes; help ends by itself")]
fn help(name: &str) -> Option<String> {
    let mut asked = Command::new("timeout");
    asked.args(["--signal=KILL", "5", name, "--help"]).stdin(Stdio::null()).env("LC_ALL", "C");
    let output = asked.output().ok()?;
    // 127: there is no such program here.
    (output.status.code() != Some(127)).then(|| {
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        text
    })
}

/// Every option that a help text names, and the letters that it does not.
fn options(help: &str) -> BTreeSet<String> {
    let mut options: BTreeSet<String> =
        ('a'..='z').chain('A'..='Z').map(|letter| format!("-{letter}")).collect();
    for word in help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        let name = word.trim_end_matches('-');
        if name.len() > 3 && name.starts_with("--") && !name.starts_with("---") {
            options.insert(name.to_owned());
            // Shortened, as the programs accept it.
            options.insert(name[..name.len() - 1].to_owned());
            options.insert(name[..(name.len() + 2) / 2].to_owned());
        }
    }
    options
}

/// A command for each form of an option. `{}` is the file outside, `{l}` a link to it.
fn forms(name: &str, option: &str) -> Vec<String> {
    let attached = if option.starts_with("--") { format!("{option}=") } else { option.to_owned() };
    let mut forms = vec![
        format!("{name} {option} {{}}"),
        format!("{name} {option} x {{}}"),
        format!("{name} {option} {{}} a.txt"),
        format!("{name} a.txt {option} {{}}"),
        format!("{name} {option} 1 {{}}"),
        format!("{name} {option} x a.txt {{}}"),
        format!("{name} {attached}{{}} a.txt"),
        format!("{name} {attached}{{}} x a.txt"),
        format!("{name} {option} x src"),
        format!("{name} {option} src"),
        format!("{name} {option} left right"),
        format!("{name} {option} x left right"),
        format!("{name} {option} @list a.txt"),
        format!("{name} {option} list"),
        format!("{name} {option} sums"),
    ];
    if !option.starts_with("--") {
        forms.push(format!("{name} {option}n {{}}"));
        forms.push(format!("{name} {option}r x src"));
        forms.push(format!("{name} {option}n{{}} a.txt"));
    }
    forms
}

/// Commands that lead out by what lies in the project, or by what the shell has inherited.
fn ways_out(name: &str) -> Vec<String> {
    let ways = [
        "{} left right",
        "{} right left",
        "{} x left right",
        "{} f left",
        "cd ./odd && {} *",
        "cd ./odd && {} x *",
        "cd ./odd && {} x ?R",
        "cd ./odd && {} [!a]*",
        "cd ./args && {} *",
        "cd ./args && {} x *",
        "{} @list",
        "{} -n @list a.txt",
        "cd - && {} secret",
        "cd - && {} x secret",
        "cd - && {} *",
        "cd $((8)) && {} secret",
        "cd dd && {} secret",
        "{} $((1))/../../other/secret",
        "{} x $((1))/../../other/secret",
        "{} $((9))",
        "{} x $((9))",
        "{} < $((9))",
        "{} [0-9]",
        "{} dl",
        "{} x dl",
        "{} d?",
        "{} x dd/secret",
        "{} +m list",
        "{} -c sums",
        "{} ../other/*",
        "xargs {} ../other/*",
        "timeout 2 {} left right",
    ];
    ways.iter().map(|way| way.replace("{}", name)).collect()
}

/// Commands of the table that open no file, for all that is known. (`df` opens what it is given, and reads nothing of it.)
const OPEN_NOTHING: [&str; 8] =
    ["basename", "date", "echo", "lsof", "pgrep", "printf", "readlink", "realpath"];

fn has_strace() -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|directory| directory.join("strace").is_file()));
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(found || !in_ci, "strace is needed: `apt-get install strace`");
    found
}

#[test]
fn allowed_readers_open_nothing_outside_the_project() {
    if !has_strace() {
        println!("skipped: strace is not installed");
        return;
    }
    let all = std::env::var_os("PILOTHOUSE_READERS").is_some_and(|value| value == "all");
    let place = Place::new();
    let engine = place.engine();
    let secret = place.path("other/secret");
    let outside = [secret.to_str().expect("UTF-8"), "../other/secret", "outl", "outl*", "src/outdir/secret"];
    let (mut generated, mut tried, mut allowed, mut led_out) = (0_usize, 0, Vec::new(), Vec::new());
    let mut programs: BTreeMap<&str, usize> = BTreeMap::new();
    for name in reader_names().into_iter().chain(OPEN_NOTHING) {
        let Some(help) = help(name) else {
            println!("{name} is not installed here");
            continue;
        };
        for command in ways_out(name) {
            tried += 1;
            if engine.decide(&ToolCall::bash(&command)).behavior == Behavior::Allow {
                *programs.entry(name).or_default() += 1;
                led_out.push((name, command));
            }
        }
        for option in options(&help) {
            // These wait for more.
            if matches!((name, option.as_str()), ("tail", "-f" | "-F")) || option.starts_with("--fol") {
                continue;
            }
            for form in forms(name, &option) {
                for file in outside {
                    generated += 1;
                    if !all && generated % SAMPLE_STEP != 0 {
                        continue;
                    }
                    let command = form.replace("{}", file);
                    tried += 1;
                    if engine.decide(&ToolCall::bash(&command)).behavior == Behavior::Allow {
                        *programs.entry(name).or_default() += 1;
                        allowed.push((name, command));
                    }
                    if !form.contains("{}") {
                        break;
                    }
                }
            }
        }
    }
    let unique: HashSet<&str> = allowed.iter().chain(&led_out).map(|(_, command)| command.as_str()).collect();
    println!("{tried} commands, {} allowed: {programs:?}", unique.len());
    // For `cargo xtask decisions --commands`: whether the real CLI asks about any of them.
    if let Some(list) = std::env::var_os("PILOTHOUSE_READERS_LIST") {
        let root = place.path("");
        let root = root.to_str().expect("UTF-8").trim_end_matches('/');
        let lines: BTreeSet<String> = unique
            .iter()
            .map(|command| format!("plain\t{}\n", command.replace(root, "/home/user")))
            .collect();
        fs::write(list, lines.into_iter().collect::<String>()).expect("the list is written");
    }
    let step = if all { 1 } else { (allowed.len() / SAMPLE).max(1) };
    let chosen = Mutex::new(led_out.iter().chain(allowed.iter().step_by(step)));
    let (leaks, run) = (Mutex::new(Vec::new()), Mutex::new(0_usize));
    // Names of users and groups are looked up by some options.
    let usual = |name: &str| place.opened(&format!("{name} a.txt; {name} --help; ls -l; stat a.txt"));
    let base: BTreeMap<&str, BTreeSet<PathBuf>> = programs.keys().map(|name| (*name, usual(name))).collect();
    let project = place.path("project");
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((name, command)) = { chosen.lock().expect("no thread panicked").next() } {
                    let opened = place.opened(command);
                    let known = base.get(name);
                    let leaked: Vec<_> = opened
                        .iter()
                        .filter(|path| !path.starts_with(&project) && !is_systems(path))
                        .filter(|path| known.is_none_or(|known| !known.contains(*path)))
                        .collect();
                    *run.lock().expect("no thread panicked") += 1;
                    if !leaked.is_empty() {
                        leaks.lock().expect("no thread panicked").push(format!("{command}: {leaked:?}"));
                    }
                }
            });
        }
    });
    let leaks = leaks.into_inner().expect("no thread panicked");
    println!("{} run", run.into_inner().expect("no thread panicked"));
    assert!(tried > 10_000, "only {tried} commands: the readers' help was not found");
    assert!(leaks.is_empty(), "{} opened files outside:\n{}", leaks.len(), leaks.join("\n"));
}

/// Libraries, locales and devices, which hold nothing of the user's.
fn is_systems(path: &Path) -> bool {
    ["/usr", "/lib", "/lib64", "/dev", "/proc", "/sys", "/etc/ld.so.cache", "/etc/localtime", "/etc/magic"]
        .iter()
        .any(|known| path.starts_with(known))
        // A socket or pipe has no path.
        || !path.is_absolute()
}
