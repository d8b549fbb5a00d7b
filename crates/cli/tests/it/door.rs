//! What a session's processes, other users and hostile names can do to the bridge that runs them: nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Gid, Pid, Uid, chown};
use pilothouse_proc::Spawn;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::served::{Served, within};

/// The user that programs run as here when the tests run as root, who may read everything.
const NOBODY: u32 = 65534;

/// A CLI that runs a script of the test's and ends. `$PROGRAM` is this program, `$STATE` the state directory of the bridge.
fn cli(home: &Path, script: &str) -> PathBuf {
    let file = home.join("cli");
    let program = home.join("pilothouse");
    fs::copy(env!("CARGO_BIN_EXE_pilothouse"), &program).unwrap();
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = -v ] && echo '2.1.325 (Claude Code)' && exit\nBRIDGE=$PPID\nPROGRAM='{}'\nSTATE='{}'\n\
         OUT='{}'\n{script}\n",
        program.display(),
        home.join("state").display(),
        home.join("out").display(),
    );
    fs::write(&file, text).unwrap();
    fs::create_dir_all(home.join("out")).unwrap();
    for path in [&file, &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    file
}

/// What the CLI has written to a file, once it is there.
async fn written(path: PathBuf) -> String {
    within(async {
        loop {
            match fs::read_to_string(&path) {
                Ok(text) => return text,
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    })
    .await
}

/// Starts a session, whose CLI then runs its script.
async fn start_session(served: &Served) {
    let mut socket = served.own_socket().await;
    let project = socket.until("welcome").await["roots"][0].clone();
    socket.say(json!({"type": "start", "projectPath": project})).await;
    socket.until("system").await;
}

#[tokio::test]
async fn no_process_of_a_session_gets_a_token_or_a_pairing_code() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("project")).unwrap();
    // Directly; as an orphan in a session of its own; and as one that waits until the CLI is gone.
    let script = r#"
ask() {
  for what in 'serve token' 'serve pair --may owner,bypass' 'serve devices list' 'serve devices revoke phone'; do
    env -i "$PROGRAM" $what --state-dir "$STATE" >> "$OUT/$1.part" 2>&1
    echo "code $?" >> "$OUT/$1.part"
  done
  mv "$OUT/$1.part" "$OUT/$1"
}
ask child
(setsid sh -c ':' & ) ; ( ( ( ask orphan ) & ) & )
export PROGRAM STATE OUT BRIDGE
setsid env -u PILOTHOUSE_BRIDGE sh -c 'while [ "$(ps -o ppid= -p $$ | tr -d " ")" != "$BRIDGE" ]; do sleep 0.1; done
  "$PROGRAM" serve token --state-dir "$STATE" > "$OUT/late.part" 2>&1; echo "code $?" >> "$OUT/late.part"; mv "$OUT/late.part" "$OUT/late"' \
  > /dev/null 2>&1 < /dev/null &
sleep 1
ls "$STATE" > "$OUT/state.part"; mv "$OUT/state.part" "$OUT/state"
"#;
    let script = script.replace("\\\\", "\\");
    let claude = cli(home.path(), &script).to_string_lossy().into_owned();
    let served = Served::start_in(home, &["--claude", &claude, "--root", "project"], &[]).await;
    start_session(&served).await;
    let out = served.home.path().join("out");
    for name in ["child", "orphan", "late"] {
        let text = written(out.join(name)).await;
        let codes: Vec<&str> = text.lines().filter(|line| line.starts_with("code ")).collect();
        assert!(!codes.is_empty() && codes.iter().all(|code| *code == "code 1"), "{name}: {text}");
        assert!(text.contains("a process of a session may not ask this"), "{name}: {text}");
    }
    let state = written(out.join("state")).await;
    assert!(!state.lines().any(|file| file == "token"), "{state}");
    // The user's own terminal is answered meanwhile.
    assert_eq!(served.command(&["serve", "pair"]).await.code, 0);
    assert_eq!(served.signalled(Signal::SIGTERM).await, Some(0));
}

#[tokio::test]
async fn a_child_of_the_same_user_can_neither_trace_the_bridge_nor_read_what_it_has_open() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().to_owned();
    fs::create_dir(place.join("project")).unwrap();
    let script = r#"
{ for file in environ maps fd/0 root/etc/hostname; do
    if cat "/proc/$BRIDGE/$file" > /dev/null 2>&1 < /dev/null; then echo "read $file"; fi
  done
  if ls "/proc/$BRIDGE/fd" > /dev/null 2>&1; then echo "listed fd"; fi
  if dd if="/proc/$BRIDGE/mem" bs=1 count=0 > /dev/null 2>&1; then echo "opened mem"; fi
  if cat "/proc/$$/environ" > /dev/null; then echo "control"; fi
} > "$OUT/tried.part" 2>&1
mv "$OUT/tried.part" "$OUT/tried"
"#;
    let claude = cli(&place, script);
    let is_root = Uid::effective().is_root();
    if is_root {
        let (uid, gid) = (Some(Uid::from_raw(NOBODY)), Some(Gid::from_raw(NOBODY)));
        for path in [place.clone(), place.join("project"), place.join("out")] {
            chown(&path, uid, gid).unwrap();
        }
    }
    let program = place.join("pilothouse");
    let token = "0123456789abcdef0123456789abcdef";
    fs::write(place.join("given"), token).unwrap();
    fs::set_permissions(place.join("given"), fs::Permissions::from_mode(0o644)).unwrap();
    let mut spawn = if is_root {
        let id = NOBODY.to_string();
        Spawn::new("setpriv").args(["--reuid", &id, "--regid", &id, "--clear-groups"]).arg(&program)
    } else {
        Spawn::new(&program)
    };
    spawn = spawn.args(["serve", "--json", "--port", "0", "--state-dir", "state", "--root", "project"]);
    spawn = spawn.args(["--token-from", "given", "--claude"]).arg(&claude).cwd(&place).env_clear();
    let mut child = spawn.env("HOME", &place).env("PATH", "/usr/bin:/bin").no_stdin().start().await.unwrap();
    let mut line = String::new();
    within(BufReader::new(child.take_stdout().unwrap()).read_line(&mut line)).await.unwrap();
    let told: Value =
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?} {}", child.stderr_tail()));
    let served = Served { home, child, told };
    let mut socket = served.socket(token).await;
    let project = socket.until("welcome").await["roots"][0].clone();
    socket.say(json!({"type": "start", "projectPath": project})).await;
    assert_eq!(written(place.join("out/tried")).await, "control\n");
    assert_eq!(served.signalled(Signal::SIGTERM).await, Some(0));
}

#[tokio::test]
async fn the_state_directory_and_the_control_socket_are_private_whatever_the_umask() {
    for mask in ["000", "002", "077"] {
        let home = tempfile::tempdir().unwrap();
        let program = env!("CARGO_BIN_EXE_pilothouse");
        let script = format!("umask {mask}; exec '{program}' serve --demo --json --port 0 --state-dir state");
        let spawn = Spawn::new("sh").args(["-c", &script]).cwd(home.path()).env_clear();
        let mut child =
            spawn.env("HOME", home.path()).env("PATH", "/usr/bin:/bin").no_stdin().start().await.unwrap();
        let mut line = String::new();
        within(BufReader::new(child.take_stdout().unwrap()).read_line(&mut line)).await.unwrap();
        let mode = |name: &str| {
            let found = fs::symlink_metadata(home.path().join("state").join(name));
            found.unwrap_or_else(|error| panic!("{name}: {error} {line}")).permissions().mode() & 0o777
        };
        assert_eq!(mode(""), 0o700, "umask {mask}");
        for name in ["control.sock", "id", "lock", "log.db", "push.key"] {
            assert_eq!(mode(name), 0o600, "umask {mask}, {name}");
        }
        kill(Pid::from_raw(child.pid().try_into().unwrap()), Signal::SIGTERM).unwrap();
        within(child.exited()).await;
    }
}

#[tokio::test]
async fn a_hostile_path_cannot_forge_a_line_of_the_log() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("x\n2030-01-01T00:00:00Z ERROR forged: all is well\u{1b}[2J\u{202e}");
    fs::create_dir(&project).unwrap();
    let served = Served::start_in(home, &["--demo", "--root", ".", "--log-level", "info"], &[]).await;
    let mut socket = served.own_socket().await;
    socket.say(json!({"type": "start", "projectPath": project.canonicalize().unwrap()})).await;
    socket.until("system").await;
    let log = served.noted("a session starts").await;
    assert!(log.contains("x\\u000a2030"), "{log}");
    assert!(!log.lines().any(|line| line.starts_with("2030")), "{log}");
    assert!(!log.contains(['\u{1b}', '\u{202e}']), "{log}");
    assert_eq!(served.signalled(Signal::SIGTERM).await, Some(0));
}

#[tokio::test]
async fn a_token_that_can_be_guessed_is_refused() {
    let home = tempfile::tempdir().unwrap();
    for token in ["", "short", "has a space in it, and is long enough otherwise"] {
        fs::write(home.path().join("given"), token).unwrap();
        let args =
            ["serve", "--demo", "--json", "--port", "0", "--state-dir", "state", "--token-from", "given"];
        let ran = crate::pilothouse(home.path(), &args);
        assert!(ran.code == 1 && ran.err.contains("openssl rand"), "{ran:?}");
    }
}
