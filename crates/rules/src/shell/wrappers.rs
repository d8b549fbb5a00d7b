//! Commands that run another command.

use super::word::Word;

/// How a wrapper's own arguments are skipped to find the command it runs.
struct Wrapper {
    name: &'static str,
    /// Options that take the next word as their value.
    valued: &'static [&'static str],
    /// Words of its own before the command, such as the seconds of `timeout`.
    operands: usize,
    /// Whether `NAME=value` words may stand before the command.
    assignments: bool,
    /// Whether an allow rule may look through it as well: it changes nothing about what the command does.
    harmless: bool,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], operands: usize) -> Wrapper {
    Wrapper { name, valued, operands, assignments: false, harmless: false }
}

const fn harmless(name: &'static str, valued: &'static [&'static str], operands: usize) -> Wrapper {
    Wrapper { name, valued, operands, assignments: false, harmless: true }
}

const fn with_assignments(name: &'static str, valued: &'static [&'static str]) -> Wrapper {
    Wrapper { name, valued, operands: 0, assignments: true, harmless: false }
}

const WRAPPERS: &[Wrapper] = &[
    harmless("timeout", &["-s", "--signal", "-k", "--kill-after"], 1),
    harmless("time", &["-f", "--format"], 0),
    harmless("nice", &["-n", "--adjustment"], 0),
    harmless("nohup", &[], 0),
    harmless("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    harmless("xargs", &[], 0),
    harmless("command", &[], 0),
    harmless("builtin", &[], 0),
    with_assignments("env", &["-u", "--unset", "-C", "--chdir", "-S", "--split-string", "-a", "--argv0"]),
    with_assignments(
        "sudo",
        &["-u", "-g", "-h", "-p", "-C", "-T", "-r", "-t", "-D", "-R", "-U", "--user", "--group"],
    ),
    with_assignments("doas", &["-u", "-C"]),
    wrapper("busybox", &[], 0),
    wrapper("toybox", &[], 0),
    wrapper("chroot", &[], 1),
    wrapper("chrt", &["-p"], 1),
    wrapper("exec", &["-a"], 0),
    wrapper("fakeroot", &[], 0),
    wrapper("firejail", &[], 0),
    wrapper("flock", &["-w", "--timeout", "-E"], 1),
    wrapper("ionice", &["-c", "-n", "-p", "--class", "--classdata"], 0),
    wrapper("ltrace", &["-o", "-e"], 0),
    wrapper("parallel", &["-j", "--jobs"], 0),
    wrapper("pkexec", &["--user"], 0),
    wrapper("proot", &["-r", "-b"], 0),
    wrapper("rlwrap", &[], 0),
    wrapper("run-parts", &[], 0),
    wrapper("setarch", &[], 1),
    wrapper("setpriv", &[], 0),
    wrapper("setsid", &[], 0),
    wrapper("start-stop-daemon", &[], 0),
    wrapper("strace", &["-o", "-e", "-p", "-s"], 0),
    wrapper("systemd-run", &["-u", "-p", "--unit", "--property"], 0),
    wrapper("taskset", &[], 1),
    wrapper("torsocks", &[], 0),
    wrapper("unbuffer", &[], 0),
    wrapper("unshare", &[], 0),
    wrapper("nsenter", &["-t", "--target"], 0),
    wrapper("watch", &["-n", "--interval"], 0),
    wrapper("coproc", &[], 0),
    wrapper("then", &[], 0),
    wrapper("do", &[], 0),
    wrapper("else", &[], 0),
    wrapper("!", &[], 0),
    wrapper("{", &[], 0),
];

/// `xargs` takes more options with values than the rest together.
const XARGS_VALUED: &[&str] = &[
    "-a",
    "--arg-file",
    "-d",
    "--delimiter",
    "-E",
    "-I",
    "-i",
    "-L",
    "-l",
    "-n",
    "--max-args",
    "-P",
    "--max-procs",
    "-s",
    "--max-chars",
    "--replace",
];

fn find(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

/// The command inside a wrapper, generously: options are skipped, whatever they are.
pub(crate) fn peel(words: &[Word]) -> Option<&[Word]> {
    let (first, rest) = words.split_first()?;
    let wrapper = find(crate::paths::base_name(&first.text))?;
    let valued = if wrapper.name == "xargs" { XARGS_VALUED } else { wrapper.valued };
    let mut rest = rest;
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        if text == "--" {
            rest = after;
            break;
        }
        if text.starts_with('-') && text.len() > 1 {
            rest = if valued.contains(&text) { after.get(1..).unwrap_or_default() } else { after };
        } else if wrapper.assignments && word.text.contains('=') {
            rest = after;
        } else {
            break;
        }
    }
    let inner = rest.get(wrapper.operands..)?;
    (!inner.is_empty()).then_some(inner)
}

/// The command inside a harmless wrapper, strictly: every skipped word must be literal and known.
pub(crate) fn peel_harmless(words: &[Word]) -> Option<&[Word]> {
    let (first, rest) = words.split_first()?;
    let wrapper = find(&first.raw).filter(|wrapper| wrapper.harmless)?;
    let mut rest = rest;
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        if !text.starts_with('-') {
            break;
        }
        if !word.is_literal() {
            return None;
        }
        let number = text[1..].bytes().all(|b| b.is_ascii_digit()) && text.len() > 1;
        rest = match wrapper.name {
            "nice" if number => after,
            "nice" if text == "-n" => after.split_first().filter(|(n, _)| n.is_literal())?.1,
            "timeout" if text == "-k" || text == "-s" => {
                after.split_first().filter(|(n, _)| n.is_literal())?.1
            }
            "timeout" if text == "--preserve-status" || text == "--foreground" => after,
            "timeout" if text.starts_with("--signal=") || text.starts_with("--kill-after=") => after,
            "stdbuf" if text.len() == 3 && ["-i", "-o", "-e"].iter().any(|o| text.starts_with(o)) => after,
            _ => return None,
        };
    }
    for _ in 0..wrapper.operands {
        let (operand, after) = rest.split_first()?;
        let known = operand.is_literal() && operand.text.starts_with(|c: char| c.is_ascii_digit());
        rest = known.then_some(after)?;
    }
    (!rest.is_empty() && rest.first().is_some_and(|w| !w.text.starts_with('-'))).then_some(rest)
}

/// Whether a program runs the command that follows it.
pub(crate) fn is_wrapper(name: &str) -> bool {
    find(name)
        .is_some_and(|wrapper| !wrapper.harmless || matches!(wrapper.name, "xargs" | "command" | "builtin"))
}

/// Whether a wrapper hands the words that follow it to a shell, which reads them anew.
pub(crate) fn joins_words(name: &str) -> bool {
    matches!(name, "watch" | "parallel")
}

/// Whether the word right after a wrapper is the program that it runs.
pub(crate) fn runs_next_word(name: &str) -> bool {
    let takes_more =
        matches!(name, "run-parts" | "start-stop-daemon" | "coproc" | "nsenter" | "unshare" | "proot");
    find(name).is_some_and(|wrapper| wrapper.operands == 0 && !takes_more && !joins_words(name))
}

/// Shells that run text given with `-c` or on standard input.
pub(crate) fn is_shell(name: &str) -> bool {
    matches!(
        crate::paths::base_name(name),
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "mksh" | "ash" | "fish" | "rbash" | "csh" | "tcsh"
    )
}
