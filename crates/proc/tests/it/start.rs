use std::fs;
use std::os::unix::fs::PermissionsExt;

use pilothouse_proc::{Limits, Spawn, SpawnError};

use crate::marker::Marker;

fn file(name: &str, content: &str, mode: u32) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    (dir, path)
}

#[tokio::test]
async fn each_bad_start_says_what_to_do() {
    let (_a, plain) = file("plain", "#!/bin/sh\n", 0o644);
    let (_b, odd) = file("odd", "#!/no/such/interpreter\n", 0o755);
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        (Spawn::new("/no/such/program"), "was not found; install it"),
        (Spawn::new("no-such-program-here"), "was not found; install it"),
        (Spawn::new("sh").env("PATH", "/nowhere"), "was not found; install it"),
        (Spawn::new(dir.path()), "is a directory; give the path"),
        (Spawn::new(&plain), "is not executable; make it so with `chmod +x"),
        (Spawn::new(&odd), "cannot be run on this machine; check its first line"),
        (Spawn::new("sh").cwd("/no/such/dir"), "the working directory `/no/such/dir` does not exist"),
        (Spawn::new("sh").cwd(&plain), "does not exist or is not a directory; create it"),
        (Spawn::new("sh").user("no-such-user-here"), "there is no user `no-such-user-here`"),
        (Spawn::new("sh").user("a\0b"), "there is no user"),
        (Spawn::new("sh").arg("a\0b"), "holds a NUL byte; remove it"),
        (Spawn::new("sh").arg("x".repeat(4 << 20)), "too long for the system; pass large values"),
    ];
    for (spawn, expected) in cases {
        let shown = format!("{spawn:?}").chars().take(200).collect::<String>();
        let error = spawn.start().await.expect_err(&shown).to_string();
        assert!(error.contains(expected), "{shown}: {error}");
    }
}

#[tokio::test]
async fn environment_and_directory_reach_the_child() {
    let dir = tempfile::tempdir().unwrap();
    let spawn = Spawn::new("/bin/sh")
        .args(["-c", "pwd; echo $KEPT ${GONE-gone} ${HOME-none}"])
        .env_clear()
        .env("KEPT", "kept")
        .env("GONE", "here")
        .env_remove("GONE")
        .cwd(dir.path());
    let done = spawn.run(b"", Limits::default()).await.unwrap();
    let wanted = format!("{}\nkept gone none\n", dir.path().canonicalize().unwrap().display());
    assert_eq!(String::from_utf8(done.stdout).unwrap(), wanted);
}

#[tokio::test]
async fn a_child_begins_with_no_signal_blocked_and_the_usual_pipe_signal() {
    let spawn = Spawn::new("cat").arg("/proc/self/status");
    let done = spawn.run(b"", Limits::default()).await.unwrap();
    let shown = String::from_utf8(done.stdout).unwrap();
    let set = |name: &str| {
        let line = shown.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    assert_eq!((set("SigBlk:"), set("SigIgn:") & (1 << 12)), (0, 0), "{shown}");
}

#[tokio::test]
async fn a_script_without_a_first_line_is_the_shell_s_and_no_path_means_the_system_s() {
    let (_dir, script) = file("script", "echo \"$0 $1\"\n", 0o755);
    let done = Spawn::new(&script).arg("x").run(b"", Limits::default()).await.unwrap();
    assert_eq!(String::from_utf8(done.stdout).unwrap(), format!("{} x\n", script.display()));
    let done = Spawn::new("echo").arg("y").env_remove("PATH").run(b"", Limits::default()).await.unwrap();
    assert_eq!(done.stdout, b"y\n");
}

#[tokio::test]
async fn a_child_leads_its_own_group() {
    let marker = Marker::new("group");
    let child = marker.shell("sleep 1000").start().await.unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.pid())).unwrap();
    let group = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(2).unwrap().to_owned();
    assert_eq!(group, child.pid().to_string());
}

#[tokio::test]
async fn debug_output_hides_values_of_variables() {
    let spawn = Spawn::new("x").env("SOME_KEY", "secret-value");
    let shown = format!("{spawn:?}");
    assert!(shown.contains("SOME_KEY") && !shown.contains("secret-value"));
}

/// The thread that asked for the child ends; the child must not.
#[test]
fn a_child_outlives_the_thread_that_asked_for_it() {
    let marker = Marker::new("thread");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let child = std::thread::scope(|scope| {
        let start = || runtime.block_on(marker.shell("exec sleep 1000").start());
        scope.spawn(start).join().unwrap().unwrap()
    });
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(marker.alive(), [child.pid()]);
    drop(child);
    marker.wait_for(0);
}

#[test]
fn errors_are_typed() {
    let error = Spawn::new("/no/such/program").run_blocking(b"", Limits::default());
    assert!(matches!(error, Err(SpawnError::NotFound { .. })));
}

/// Root becomes another user for good: no way back, no group kept. Everybody else is told that they may not.
#[test]
fn a_child_may_be_another_user() {
    let limits = Limits::default;
    let ids = |spawn: Spawn| spawn.args(["-c", "id -u; id -g; id -G"]).run_blocking(b"", limits());
    let me = rustix::process::geteuid();
    let own = ids(Spawn::new("sh").user(me.as_raw().to_string())).unwrap();
    assert!(String::from_utf8_lossy(&own.stdout).starts_with(&format!("{}\n", me.as_raw())));
    // A number that nobody has a name for.
    match ids(Spawn::new("sh").user("54321")) {
        Ok(other) => {
            assert!(me.is_root());
            assert_eq!(String::from_utf8_lossy(&other.stdout), "54321\n54321\n54321\n");
        }
        Err(error) => {
            assert!(!me.is_root() && matches!(error, SpawnError::UserRefused { .. }), "{error}");
        }
    }
}
