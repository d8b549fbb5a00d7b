//! What a session can reach of the bridge and of the user's secrets, tried for real from inside.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use pilothouse_proc::{Limits, Spawn};
use pilothouse_testkit::{Sandbox, Socket};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::served::Served;
use crate::{pilothouse, pilothouse_with};

/// The text that no session may print.
const SECRET: &str = "LEAKED";

/// Prints `LEAKED` if it can read the file `$1`.
const READER: &str = r#"
#include <stdio.h>
int main(int count, char **names) {
    char text[64] = "";
    FILE *file = fopen(names[1], "r");
    if (file == NULL || fgets(text, sizeof text, file) == NULL) { perror("fopen"); return 1; }
    fputs(text, stdout);
}
"#;

/// Prints `LEAKED` if it can trace the process `$1` or read its memory.
const TRACER: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
int main(int count, char **names) {
    int pid = atoi(names[1]);
    unsigned long start = 0;
    char maps[64], bytes[16];
    if (ptrace(PTRACE_SEIZE, pid, 0, 0) == 0) { puts("LEAKED by ptrace"); ptrace(PTRACE_DETACH, pid, 0, 0); }
    else perror("ptrace");
    snprintf(maps, sizeof maps, "/proc/%d/maps", pid);
    FILE *file = fopen(maps, "r");
    if (file == NULL) { perror("maps"); return 1; }
    if (fscanf(file, "%lx", &start) == 1) {
        struct iovec here = { bytes, sizeof bytes }, there = { (void *) start, sizeof bytes };
        if (process_vm_readv(pid, &here, 1, &there, 1, 0) > 0) puts("LEAKED by process_vm_readv");
    }
}
"#;

/// How an attack is expected to end without a sandbox.
#[derive(Clone, Copy, PartialEq)]
enum Outside {
    /// It succeeds: the attack itself is sound.
    Leaks,
    /// It depends on the machine, or is not to be tried there.
    Untried,
}

use Outside::{Leaks, Untried};

/// Each is a shell command in which `$STATE` is the bridge's state directory, `$BRIDGE` its PID.
const ATTACKS: &[(&str, Outside, &str)] = &[
    ("cat", Leaks, "cat $STATE/probe"),
    ("column", Leaks, "column -t $STATE/probe"),
    ("relative", Leaks, "cat ../state/probe"),
    ("compiled", Leaks, "./reader $STATE/probe"),
    ("python", Leaks, "python3 -c \"print(open('$STATE/probe').read())\""),
    ("root_of_bridge", Leaks, "cat /proc/$BRIDGE/root$STATE/probe"),
    ("cwd_of_bridge", Leaks, "cat /proc/$BRIDGE/cwd/state/probe"),
    (
        "descriptors",
        Untried,
        "for fd in /proc/$BRIDGE/fd/*; do [ -e $fd ] && echo LEAKED $fd; done; ls /proc/$BRIDGE/fd",
    ),
    ("environment", Untried, "tr '\\0' '\\n' < /proc/$BRIDGE/environ | grep -c . | sed 's/^[1-9]/LEAKED &/'"),
    ("memory", Untried, "head -c 1 /proc/$BRIDGE/mem && echo LEAKED; ls /proc/$BRIDGE/map_files"),
    ("ptrace", Untried, "./tracer $BRIDGE"),
    ("log", Leaks, "head -c 15 $STATE/log.db | grep -q 'SQLite format 3' && echo LEAKED"),
    (
        "control",
        Leaks,
        "python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); s.connect('$STATE/control.sock'); print('LEAKED')\"",
    ),
    ("write", Untried, "echo LEAKED > $STATE/written; cat $STATE/written"),
    ("ssh", Leaks, "cat ~/.ssh/id_ed25519"),
    ("aws", Leaks, "cat ~/.aws/credentials"),
    ("netrc", Leaks, "cat ~/.netrc"),
    ("linked", Leaks, "cat ~/link-to-keys/credentials"),
    ("umount", Untried, "umount $STATE; umount -l $STATE; umount -R $STATE; cat $STATE/probe"),
    ("unshare", Untried, "unshare -Urm sh -c 'umount $STATE; umount -l $STATE; cat $STATE/probe'"),
    ("twice", Untried, "unshare -Urm unshare -Urm sh -c 'umount $STATE; cat $STATE/probe'"),
    ("move", Untried, "unshare -Urm sh -c 'mount --move $STATE /mnt; cat $STATE/probe'"),
    ("bind", Untried, "unshare -Urm sh -c 'mount --bind $HOME /mnt; cat /mnt/state/probe'"),
    ("bind_root", Untried, "unshare -Urm sh -c 'mount --bind / /mnt; cat /mnt/$STATE/probe'"),
    (
        "remount",
        Untried,
        "unshare -Urm sh -c 'mount -o remount,rw $STATE; echo LEAKED > $STATE/x; cat $STATE/x'",
    ),
    (
        "overlay",
        Untried,
        "mkdir -p o/u o/w o/m; unshare -Urm sh -c \"mount -t overlay o -o lowerdir=$HOME,upperdir=o/u,workdir=o/w o/m; cat o/m/state/probe\"",
    ),
    ("nsenter", Untried, "nsenter -t $BRIDGE -m cat $STATE/probe"),
    ("nsenter_user", Untried, "nsenter -t $BRIDGE -U -m cat $STATE/probe"),
    ("nsenter_parent", Untried, "nsenter -t $PPID -m cat $STATE/probe"),
    (
        "disk",
        Untried,
        "for disk in /dev/vd? /dev/sd? /dev/nvme?n? /dev/loop?; do [ -b $disk ] && echo LEAKED $disk; done",
    ),
    ("mknod", Untried, "mknod disk b 254 0 && head -c 1 disk && echo LEAKED"),
    // What is there already is written, so that nothing changes if it succeeds.
    ("core_pattern", Untried, "p=/proc/sys/kernel/core_pattern; cat $p > $p && echo LEAKED"),
    ("uevent_helper", Untried, "p=/sys/kernel/uevent_helper; [ -e $p ] && cat $p > $p && echo LEAKED"),
];

/// A home with secrets, a project with the attacks, and a state directory with one more secret.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let path = home.path();
    for (file, text) in [
        ("state/probe", SECRET),
        (".ssh/id_ed25519", SECRET),
        (".ssh/known_hosts", "a-known-host"),
        (".aws/credentials", SECRET),
        (".netrc", SECRET),
        (".config/gh/hosts.yml", "allowed-by-a-person"),
        ("project/reader.c", READER),
        ("project/tracer.c", TRACER),
    ] {
        fs::create_dir_all(path.join(file).parent().unwrap()).unwrap();
        fs::write(path.join(file), format!("{text}\n")).unwrap();
    }
    std::os::unix::fs::symlink(".aws", path.join("link-to-keys")).unwrap();
    std::os::unix::fs::symlink("../state/probe", path.join("project/probe.txt")).unwrap();
    for name in ["reader", "tracer"] {
        let project = path.join("project");
        let spawn = Spawn::new("gcc").args(["-w", "-o", name, &format!("{name}.c")]).cwd(project).no_stdin();
        let done = spawn.run_blocking(b"", Limits::default()).expect("a C compiler");
        assert!(done.success(), "{}", done.stderr_tail);
    }
    home
}

fn write_attacks(served: &Served) {
    let state = served.home.path().canonicalize().unwrap().join("state");
    let mut script =
        format!("STATE={}\nBRIDGE={}\nexport STATE BRIDGE\n", state.display(), served.child.pid());
    for (name, _, command) in ATTACKS {
        let file = served.home.path().join(format!("project/{name}.sh"));
        fs::write(file, command).unwrap();
        script += &format!("echo '== {name}'\ntimeout 20 bash ./{name}.sh 2>&1\n");
    }
    script += "echo '== end'\n";
    fs::write(served.home.path().join("project/all.sh"), script).unwrap();
}

/// What a command printed in a session that was started in this mode; whatever needs approval gets it.
async fn printed(socket: &mut Socket<TcpStream>, input: &str) -> String {
    socket.say(json!({"type": "input", "text": input})).await;
    loop {
        let message = socket.until_some("a result", |message| {
            matches!(
                message["type"].as_str(),
                Some("permission_request" | "tool_result" | "result" | "error")
            )
        });
        let message = message.await;
        match message["type"].as_str().unwrap() {
            "permission_request" => socket.say(json!({"type": "approve", "id": message["id"]})).await,
            "tool_result" => {
                let text = text_of(&message["content"]);
                socket.until("result").await;
                return text;
            }
            _ => panic!("{message}"),
        }
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

async fn start(served: &Served, mode: &str) -> Socket<TcpStream> {
    let mut socket = served.own_socket().await;
    let project = served.home.path().canonicalize().unwrap().join("project");
    socket.say(json!({"type": "start", "projectPath": project, "permissionMode": mode})).await;
    socket.until("system").await;
    socket
}

/// What each attack printed.
fn sections(printed: &str) -> Vec<(&str, &str)> {
    let mut parts = printed.split("== ").skip(1).map(|part| part.split_once('\n').unwrap_or((part, "")));
    let sections: Vec<_> = parts.by_ref().map(|(name, text)| (name.trim(), text)).collect();
    assert_eq!(sections.last().map(|(name, _)| *name), Some("end"), "{printed}");
    assert_eq!(sections.len(), ATTACKS.len() + 1, "{printed}");
    sections
}

#[tokio::test]
async fn no_session_reaches_a_secret_in_any_mode() {
    let args = ["--demo", "--root", "project", "--sandbox", "hide", "--sandbox-allow", ".config/gh"];
    let served = Served::start_in(home(), &args, &[("IS_SANDBOX", "1")]).await;
    write_attacks(&served);
    for mode in ["default", "acceptEdits", "bypassPermissions"] {
        let mut socket = start(&served, mode).await;
        let all = printed(&mut socket, "run bash all.sh").await;
        for (name, text) in sections(&all) {
            assert!(!text.contains(SECRET), "{name} in {mode}: {text}\n{all}");
        }
        let read = printed(&mut socket, "read probe.txt").await;
        assert!(!read.contains(SECRET), "Read in {mode}: {read}");
        // Ordinary work goes on: the project, the agent's own folder, what a person allowed, keys that are no secret.
        let work = "run echo new > made.txt; cat made.txt ~/.ssh/known_hosts ~/.config/gh/hosts.yml; kill -0 $$ && echo signalled; \
                    unshare -Ur id -u";
        let worked = printed(&mut socket, work).await;
        assert_eq!(worked.trim(), "new\na-known-host\nallowed-by-a-person\nsignalled\n0", "{mode}");
    }
    assert_eq!(served.signalled(Signal::SIGTERM).await, Some(0));
}

#[tokio::test]
async fn the_attacks_succeed_without_a_sandbox() {
    let served = Served::start_in(home(), &["--demo", "--root", "project"], &[]).await;
    write_attacks(&served);
    let script = fs::read_to_string(served.home.path().join("project/all.sh")).unwrap();
    let kept = |line: &&str| {
        ATTACKS.iter().all(|(name, outside, _)| *outside == Leaks || !line.contains(&format!("./{name}.sh")))
    };
    let script: Vec<&str> = script.lines().filter(kept).collect();
    fs::write(served.home.path().join("project/all.sh"), script.join("\n")).unwrap();
    let mut socket = start(&served, "default").await;
    let all = printed(&mut socket, "run bash all.sh").await;
    for ((name, text), (_, outside, _)) in sections(&all).into_iter().zip(ATTACKS) {
        // A bridge that is not dumpable keeps its own directories in /proc from its children, sandbox or not.
        let is_protected = name.ends_with("_of_bridge") || name == "control" || name == "log";
        if *outside == Leaks && !is_protected {
            assert!(text.contains(SECRET), "{name} is no attack: {text}");
        }
    }
}

#[tokio::test]
async fn the_sandbox_is_told_on_the_wire_and_in_the_metrics() {
    let served = Served::start_in(home(), &["--demo", "--root", "project", "--sandbox", "hide"], &[]).await;
    assert_eq!(served.told["agent"]["sandbox"], json!({"mode": "hide"}));
    let mut socket = served.own_socket().await;
    assert_eq!(socket.until("welcome").await["agent"]["sandbox"]["mode"], "hide");
    let served = Served::start(&["--demo"]).await;
    assert_eq!(served.told["agent"].get("sandbox"), None);
}

#[test]
fn a_system_without_namespaces_is_refused_unless_somebody_says_to_go_on() {
    let home = home();
    let arguments =
        ["serve", "--demo", "--port", "0", "--state-dir", "state", "--sandbox-without", "namespaces"];
    for mode in ["hide", "strict"] {
        let refused = pilothouse(home.path(), &[&arguments[..], &["--sandbox", mode]].concat());
        assert_eq!(refused.code, 1, "{refused:?}");
        let told = format!("--sandbox {mode} needs user namespaces, which this system does not offer");
        assert!(refused.err.contains(&told), "{refused:?}");
        assert!(refused.err.contains("--sandbox-best-effort goes on"), "{refused:?}");
    }
    let without = ["--sandbox", "strict", "--sandbox-without", "landlock", "--sandbox-without", "seccomp"];
    let refused = pilothouse(home.path(), &[&arguments[..], &without].concat());
    assert!(refused.err.contains("needs user namespaces and Landlock and seccomp"), "{refused:?}");
    let wrong = pilothouse(home.path(), &["serve", "--demo", "--sandbox-without", "luck"]);
    assert!(wrong.err.contains("luck is no layer of the sandbox"), "{wrong:?}");
}

#[tokio::test]
async fn a_sandbox_that_lacks_something_is_announced() {
    let args = [
        "--demo",
        "--root",
        "project",
        "--sandbox",
        "hide",
        "--sandbox-best-effort",
        "--sandbox-without",
        "namespaces",
    ];
    let served = Served::start_in(home(), &args, &[]).await;
    assert_eq!(served.told["agent"]["sandbox"], json!({"mode": "hide", "missing": ["user namespaces"]}));
    let mut socket = start(&served, "default").await;
    assert_eq!(printed(&mut socket, "run echo goes on").await.trim(), "goes on");
}

#[test]
fn doctor_tells_what_the_system_offers() {
    let home = tempfile::tempdir().unwrap();
    let agent = env!("CARGO_BIN_EXE_pilothouse-agent");
    let run = pilothouse_with(home.path(), &["doctor", "--claude", agent], &[], b"");
    for line in
        ["✓ sandbox   user namespaces: can hide files and processes\n", "serve` runs with --sandbox off\n"]
    {
        assert!(run.out.contains(line), "{line} in {}", run.out);
    }
    let state = home.path().join(".local/state/pilothouse");
    fs::create_dir_all(&state).unwrap();
    fs::write(state.join("config.toml"), "sandbox = \"hide\"\n").unwrap();
    let run = pilothouse_with(home.path(), &["doctor", "--claude", agent], &[], b"");
    assert!(run.out.contains("serve` runs with --sandbox hide\n"), "{}", run.out);
}

/// Runs a command in the sandbox of the helper, without a bridge.
fn helper(user: Option<&str>, program: &Path, arguments: &[&str], command: &str) -> (bool, String) {
    let spawn =
        Spawn::new(program).arg("__sandbox").args(arguments).args(["--", "sh", "-c", command]).no_stdin();
    let spawn = match user {
        Some(user) => spawn.user(user),
        None => spawn,
    };
    let done = spawn.run_blocking(b"", Limits::default()).unwrap();
    (done.success(), String::from_utf8_lossy(&done.stdout).into_owned() + &done.stderr_tail)
}

#[test]
fn an_unprivileged_user_is_kept_out_as_well() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("pilothouse");
    fs::copy(env!("CARGO_BIN_EXE_pilothouse"), &program).unwrap();
    let place = folder.path().join("secret");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("key"), SECRET).unwrap();
    for path in [&place, &place.join("key")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let place = place.display().to_string();
    let user = nix::unistd::geteuid().is_root().then_some("nobody");
    let (_, open) = helper(user, &program, &[], &format!("cat {place}/key"));
    assert!(open.contains(SECRET), "{open}");
    let attack = format!(
        "id -un; ls -A {place}; cat {place}/key; umount {place}; unshare -Urm sh -c 'umount {place}; cat {place}/key'; \
         cat /proc/$PPID/root/{place}/key; nsenter -t $PPID -m cat {place}/key; mount --bind / /mnt; touch {place}/x"
    );
    let (_, text) = helper(user, &program, &["--hide", &place], &attack);
    assert!(!text.contains(SECRET) && text.contains("Read-only file system"), "{text}");
}

#[test]
fn the_helper_refuses_what_it_cannot_do() {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_pilothouse"));
    let folder = tempfile::tempdir().unwrap();
    let hidden = folder.path().display().to_string();
    for (arguments, told) in [
        (&["--hide", &hidden, "--without", "namespaces"][..], "the sandbox needs user namespaces"),
        (&["--confine-writes", "--without", "landlock"], "the sandbox needs Landlock"),
        (&["--filter", "--without", "seccomp"], "the sandbox needs seccomp"),
        (&["--surprise"], "the helper is of another version"),
    ] {
        let (succeeded, text) = helper(None, &program, arguments, "echo ran");
        assert!(!succeeded && text.contains(told) && !text.contains("ran"), "{arguments:?}: {text}");
    }
    let (succeeded, text) =
        helper(None, &program, &["--filter", "--without", "seccomp", "--best-effort"], "echo ran");
    assert!(succeeded && text.contains("ran"), "{text}");
}

#[test]
fn the_strict_layers_confine_writes_the_network_and_system_calls() {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_pilothouse"));
    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
    for path in [&inside, &outside] {
        fs::create_dir(path).unwrap();
    }
    let (inside, outside) = (inside.display().to_string(), outside.display().to_string());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let strict = ["--hide", "/nonexistent", "--writable", &inside, "--no-network", "--filter"];
    for (command, works) in [
        (format!("echo a > {inside}/file"), true),
        (format!("echo a > {outside}/file"), false),
        (format!("ln {inside}/file {outside}/file"), false),
        (format!("mv {inside}/file {outside}/file"), false),
        ("echo a > /dev/null".to_owned(), true),
        (format!("python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 5)\""), false),
        ("python3 -c \"import socket; socket.create_connection(('192.0.2.1', 80), 5)\"".to_owned(), false),
        ("python3 -c \"import socket; l = socket.create_server(('127.0.0.1', 0)); socket.create_connection(l.getsockname())\"".to_owned(), true),
        ("python3 -c \"import socket; socket.socket(socket.AF_UNIX)\"".to_owned(), false),
        ("python3 -c \"import socket; socket.socketpair()\"".to_owned(), true),
        ("unshare -Urm mount -t tmpfs x /mnt".to_owned(), false),
        ("strace -o /dev/null true".to_owned(), false),
        (format!("kill -0 {}", std::process::id()), false),
        ("sleep 9 & kill $!".to_owned(), true),
        ("grep -q 'NoNewPrivs:.1' /proc/self/status".to_owned(), true),
    ] {
        let (succeeded, text) = helper(None, &program, &strict, &command);
        assert_eq!(succeeded, works, "{command}: {text}");
    }
}

#[tokio::test]
async fn a_strict_session_writes_to_its_project_alone_and_its_commands_have_no_network() {
    let args = ["--demo", "--root", "project", "--sandbox", "strict"];
    let home = home();
    // The home itself is in the folder for temporary files, which is writable.
    let temporary = home.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let env = [("IS_SANDBOX", "1"), ("TMPDIR", temporary.to_str().unwrap())];
    let served = Served::start_in(home, &args, &env).await;
    assert_eq!(served.told["agent"]["sandbox"], json!({"mode": "strict"}));
    write_attacks(&served);
    let port = served.host().rsplit_once(':').unwrap().1.to_owned();
    for mode in ["default", "bypassPermissions"] {
        let mut socket = start(&served, mode).await;
        let all = printed(&mut socket, "run bash all.sh").await;
        for (name, text) in sections(&all) {
            assert!(!text.contains(SECRET), "{name} in {mode}: {text}\n{all}");
        }
        let worked = printed(
            &mut socket,
            "run echo new > made.txt; cat made.txt; echo t > $(mktemp) && echo temporary",
        )
        .await;
        assert_eq!(worked.trim(), "new\ntemporary", "{mode}");
        for (command, told) in [
            ("run touch ~/planted".to_owned(), "Permission denied"),
            ("run echo x >> ~/.bashrc".to_owned(), "Permission denied"),
            (format!("run exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached"), "refused"),
            ("run strace true".to_owned(), "not permitted"),
            (format!("run kill -TERM {}", served.child.pid()), "not permitted"),
        ] {
            let text = printed(&mut socket, &command).await;
            assert!(text.to_lowercase().contains(&told.to_lowercase()), "{command} in {mode}: {text}");
            assert!(text.contains("[the command ran in a sandbox: "), "{command} in {mode}: {text}");
        }
    }
    assert!(!served.home.path().join("planted").exists() && !served.home.path().join(".bashrc").exists());
    assert_eq!(served.signalled(Signal::SIGTERM).await, Some(0));
}

/// What the agent answers when it runs one command, with these flags and these settings of the user and the project.
async fn agent_runs(flags: &[&str], user: &Value, project: &Value, command: &str) -> String {
    let sandbox = Sandbox::new().unwrap();
    let folder = sandbox.project();
    for (place, settings) in
        [(sandbox.config().join("settings.json"), user), (folder.join(".claude/settings.json"), project)]
    {
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, settings.to_string()).unwrap();
    }
    let script = json!({"turn": [
        {"calls": [{"tool": "Bash", "input": {"command": command}}]},
        {"say": "{{tool.result}}"},
    ]});
    fs::write(folder.join("script.json"), script.to_string()).unwrap();
    let mut spawn = Spawn::new(env!("CARGO_BIN_EXE_pilothouse-agent"))
        .args(["-p", "go", "--script", "script.json", "--permission-mode", "bypassPermissions"])
        .args(flags)
        .cwd(&folder)
        .no_stdin()
        .env_clear();
    for (name, value) in sandbox.env("http://127.0.0.1:9") {
        spawn = spawn.env(name, value);
    }
    // The home itself is in the folder for temporary files, which is writable.
    let temporary = folder.join("tmp");
    fs::create_dir(&temporary).unwrap();
    let done =
        spawn.env("IS_SANDBOX", "1").env("TMPDIR", &temporary).run(b"", Limits::default()).await.unwrap();
    String::from_utf8_lossy(&done.stdout).into_owned() + &done.stderr_tail
}

#[tokio::test]
async fn the_agents_settings_turn_the_sandbox_on_and_a_project_cannot_loosen_it() {
    let write = "touch ~/planted && echo written";
    let (none, on) = (json!({}), json!({"sandbox": {"enabled": true}}));
    let off = json!({"sandbox": {"enabled": false}});
    let loose = json!({"sandbox": {
        "enabled": false, "excludedCommands": ["touch"], "filesystem": {"allowWrite": ["~/"]},
        "failIfUnavailable": false, "network": {"allowedDomains": ["*"]},
    }});
    for (flags, user, project, command, works) in [
        (&[][..], &none, &none, write, true),
        (&["--sandbox", "strict"], &none, &none, write, false),
        (&["--sandbox=strict"], &off, &off, write, false),
        (&["--sandbox=off"], &on, &on, write, true),
        (&[], &on, &none, write, false),
        (&[], &none, &on, write, false),
        (&[], &on, &loose, write, false),
        (&[], &on, &loose, "touch /tmp/../var/tmp/x-$$", false),
        (&["--sandbox", "strict"], &loose, &none, "cat ~/.claude/none", false),
    ] {
        let text = agent_runs(flags, user, project, command).await;
        assert_eq!(!text.contains("ran in a sandbox"), works, "{flags:?} {user} {project}: {text}");
    }
    // Who turned it on may exclude a command and allow a folder.
    let user = json!({"sandbox": {"enabled": true, "excludedCommands": ["touch *"]}});
    let text = agent_runs(&[], &user, &none, "touch ../planted").await;
    assert!(!text.contains("ran in a sandbox"), "{text}");
    let user = json!({"sandbox": {"enabled": true, "filesystem": {"allowWrite": ["~/"]}}});
    assert!(agent_runs(&[], &user, &none, write).await.contains("written"));
    // A library that the project names is not loaded before the sandbox is entered.
    let preload = json!({"sandbox": {"enabled": true}, "env": {"LD_PRELOAD": "/nonexistent/evil.so"}});
    let text = agent_runs(&[], &preload, &none, "echo \"with $LD_PRELOAD\"").await;
    assert!(text.contains("with /nonexistent/evil.so"), "the command has it: {text}");
}

#[tokio::test]
async fn allowed_hosts_are_reached_by_the_proxy_and_no_others() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
            let mut request = [0; 1024];
            let read = stream.read(&mut request).await.unwrap_or_default();
            let is_own = String::from_utf8_lossy(&request[..read]).starts_with("GET /page HTTP/1.1");
            let body = if is_own { "the page" } else { "what?" };
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    let user =
        json!({"sandbox": {"enabled": true, "network": {"allowedDomains": [format!("localhost:{port}")]}}});
    let fetch = |url: String| {
        format!(
            "python3 -c \"import urllib.request as r; print(r.urlopen('{url}', timeout=10).read().decode())\" 2>&1 | tail -1"
        )
    };
    let text = agent_runs(&[], &user, &json!({}), &fetch(format!("http://localhost:{port}/page"))).await;
    assert!(text.contains("the page"), "{text}");
    for other in [
        format!("http://127.0.0.1:{port}/page"),
        "http://example.com/".to_owned(),
        "https://example.com/".to_owned(),
    ] {
        let text = agent_runs(&[], &user, &json!({}), &fetch(other.clone())).await;
        assert!(text.contains("403"), "{other}: {text}");
    }
    // A tunnel to the allowed host, and none past the proxy.
    let tunnel = format!(
        "python3 -c \"import http.client as h, os; p = os.environ['HTTPS_PROXY'].rsplit(':', 1)[1]; c = h.HTTPConnection('127.0.0.1', int(p)); \
         c.set_tunnel('localhost', {port}); c.request('GET', '/page'); print(c.getresponse().read().decode())\""
    );
    assert!(agent_runs(&[], &user, &json!({}), &tunnel).await.contains("the page"));
    let direct = format!("python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 5)\"");
    assert!(agent_runs(&[], &user, &json!({}), &direct).await.contains("refused"));
}
