//! Every snippet of the documentation is run: scripts are played, commands are executed, frames decode.
//!
//! A fenced block is tested by its language. One that cannot be is in [`UNTESTED`], with the reason.

use std::fs;
use std::path::{Path, PathBuf};

use pilothouse_proc::{Limits, Outcome, Spawn};
use pilothouse_proto::AgentFrame;
use serde_json::Value;

use crate::served::Served;
use crate::{Ran, pilothouse_with};

/// Snippets that are not run: the page, how the snippet begins, and why.
const UNTESTED: [(&str, &str, &str); 6] = [
    (
        "README.md",
        "cargo run --release -- serve",
        "`cargo run` inside a test would wait for the build's lock",
    ),
    ("CONTRIBUTING.md", "cargo xtask test", "they run this test"),
    (
        "docs/bridge-conversations/README.md",
        "BRIDGE_CONVERSATIONS=write",
        "it writes the conversations that the bridge's tests compare",
    ),
    ("bench/README.md", "", "measurements take minutes, and CI runs them by themselves"),
    ("docs/serve.md", "location /ship/", "nginx is not installed; tests/it/https.rs has a proxy of its own"),
    ("docs/scripts.md", "pilothouse-agent --script my.toml", "the place of the other arguments is left open"),
];

/// Pages whose Rust snippets are doctests, by `include_str!` in the SDK's crate.
const DOCTESTS: [&str; 2] = ["README.md", "crates/pilothouse/README.md"];

/// What is said to every script: each of the documentation's conditions holds for it.
const PROMPT: &str = "deploy, then count to 3";

/// A fenced block.
#[derive(Debug)]
struct Snippet {
    page: String,
    line: usize,
    language: String,
    text: String,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All pages of the repository but the changelog, which is about the past.
fn pages() -> Vec<String> {
    let folders =
        ["", "docs", "docs/bridge-conversations", "bench", "crates/pilothouse", "crates/bridge/web"];
    let mut pages = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(repository().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") && name != "CHANGELOG.md" {
                pages.push(Path::new(folder).join(name).display().to_string());
            }
        }
    }
    pages.sort();
    pages
}

fn snippets() -> Vec<Snippet> {
    let mut found = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(repository().join(&page)).unwrap();
        let mut open: Option<Snippet> = None;
        let mut after_blank = true;
        for (line, written) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
            match (&mut open, written.strip_prefix("```")) {
                (None, Some(language)) => {
                    let language = language.split(',').next().unwrap_or_default().to_owned();
                    open = Some(Snippet { page: page.clone(), line, language, text: String::new() });
                }
                (Some(_), Some(_)) => found.extend(open.take()),
                (Some(snippet), None) => snippet.text += &format!("{written}\n"),
                (None, None) => assert!(
                    !(after_blank && written.starts_with("    ")),
                    "{page}:{line}: fence the snippet and name its language, so that it is tested"
                ),
            }
            after_blank = written.is_empty();
        }
        assert!(open.is_none(), "{page}: a fence is not closed");
    }
    found
}

fn is_untested(snippet: &Snippet) -> bool {
    UNTESTED.iter().any(|(page, start, _)| snippet.page == *page && snippet.text.starts_with(start))
}

/// The snippets of a language that are run.
fn of(language: &str) -> Vec<Snippet> {
    snippets().into_iter().filter(|snippet| snippet.language == language && !is_untested(snippet)).collect()
}

fn is_settings_of_serve(snippet: &Snippet) -> bool {
    snippet.page == "docs/serve.md"
}

#[test]
fn every_snippet_of_the_documentation_has_a_test() {
    let tested = ["toml", "yaml", "json", "sh", "console"];
    for snippet in snippets().iter().filter(|snippet| !is_untested(snippet)) {
        let Snippet { page, line, language, .. } = snippet;
        let doctest = language == "rust" && DOCTESTS.contains(&page.as_str());
        assert!(tested.contains(&language.as_str()) || doctest, "{page}:{line}: `{language}` is not tested");
    }
    for (page, start, _) in UNTESTED {
        let known = snippets().iter().any(|snippet| snippet.page == page && snippet.text.starts_with(start));
        assert!(known, "{page} has no snippet `{start}` any more");
    }
    let sdk = fs::read_to_string(repository().join("crates/pilothouse/src/lib.rs")).unwrap();
    for included in ["../README.md", "../../../README.md"] {
        assert!(sdk.contains(&format!("include_str!(\"{included}\")")), "{included} is no doctest any more");
    }
}

/// Every line that a script's agent writes is a frame, and the script has the last word.
#[test]
fn every_script_of_the_documentation_plays_and_its_frames_decode() {
    let scripts: Vec<Snippet> = ["toml", "yaml"].iter().flat_map(|language| of(language)).collect();
    let scripts: Vec<&Snippet> = scripts.iter().filter(|snippet| !is_settings_of_serve(snippet)).collect();
    assert!(scripts.len() >= 8, "{} scripts", scripts.len());
    for snippet in scripts {
        let place = format!("{}:{}", snippet.page, snippet.line);
        let played = play(snippet);
        let frames = played.out.lines().map(|line| {
            pilothouse_proto::decode::<AgentFrame>(line.as_bytes())
                .unwrap_or_else(|error| panic!("{place}: {error}: {:.300}", line))
        });
        let results = frames.filter(|frame| matches!(frame, AgentFrame::Result(_))).count();
        // A script may end the process on purpose.
        if let Some(code) = exit_code(snippet) {
            assert_eq!((played.code, results), (code, 0), "{place}: {}", played.err);
            continue;
        }
        assert_eq!((played.code, results), (0, 1), "{place}: {}", played.err);
        let last: Value = serde_json::from_str(played.out.lines().last().unwrap_or_default()).unwrap();
        let said = last["result"].as_str().unwrap_or_default();
        assert!(!said.is_empty() && !said.contains("no turn for"), "{place}: {said:?}");
    }
}

/// Plays a script to its end, without anybody to ask for permission.
fn play(snippet: &Snippet) -> Ran {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("README.md"), "# A project\n").unwrap();
    let script = format!("script.{}", snippet.language);
    fs::write(home.path().join(&script), &snippet.text).unwrap();
    let args = ["--script", &script, "-p", PROMPT, "--output-format", "stream-json", "--verbose"];
    let spawn = Spawn::new(env!("CARGO_BIN_EXE_pilothouse-agent")).args(args).cwd(home.path()).env_clear();
    let spawn = spawn.env("HOME", home.path()).env("PATH", "/usr/bin:/bin");
    let done = spawn.run_blocking(b"", Limits::default()).unwrap();
    let Outcome::Exited(exit) = done.outcome else { panic!("{snippet:?} did not end") };
    Ran { code: exit.code().unwrap(), out: String::from_utf8(done.stdout).unwrap(), err: done.stderr_tail }
}

/// The exit code that a fault of the script asks for.
fn exit_code(snippet: &Snippet) -> Option<i32> {
    let script: toml::Table = toml::from_str(&snippet.text).ok()?;
    let faults = script.get("fault")?.as_array()?;
    let exit = faults.iter().find(|fault| fault["do"].as_str() == Some("exit"))?;
    Some(exit.get("code").and_then(toml::Value::as_integer).unwrap_or(1) as i32)
}

#[test]
fn every_frame_of_the_documentation_decodes() {
    for snippet in of("json") {
        for line in snippet.text.lines().filter(|line| !line.trim().is_empty()) {
            pilothouse_proto::decode::<AgentFrame>(line.as_bytes())
                .unwrap_or_else(|error| panic!("{}:{}: {error}: {line}", snippet.page, snippet.line));
        }
    }
}

/// A command of the documentation, with the output that is shown for it.
struct Shown {
    place: String,
    words: Vec<String>,
    output: String,
}

/// The commands of a snippet: each line of `sh`, each line after a `$` of `console`.
fn commands(snippet: &Snippet) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    for (index, line) in snippet.text.lines().enumerate() {
        let place = format!("{}:{}", snippet.page, snippet.line + 1 + index);
        let command = match snippet.language.as_str() {
            "console" => line.strip_prefix("$ "),
            _ => Some(line).filter(|line| !line.trim().is_empty()),
        };
        match (command, commands.last_mut()) {
            (Some(command), _) => {
                commands.push(Shown { place, words: words(command), output: String::new() });
            }
            (None, Some(last)) => last.output += &format!("{line}\n"),
            (None, None) => panic!("{place}: output without a command"),
        }
    }
    commands
}

/// A command line as a shell cuts it: quotes hold together, `#` begins a comment, `~` is the home.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            '#' if !quoted && word.is_empty() => return words,
            letter => word.push(letter),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// The program has exit codes for answers; from 64 on they mean that it was used wrongly or could not answer.
const FIRST_FAILURE: i32 = 64;

#[test]
fn every_command_of_the_documentation_runs() {
    let mut ran = 0;
    for snippet in ["sh", "console"].iter().flat_map(|language| of(language)) {
        // The commands of a snippet belong together: a later one reads what an earlier one wrote.
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".claude")).unwrap();
        for shown in commands(&snippet) {
            let Shown { place, words, output } = shown;
            let (program, args) = words.split_first().unwrap_or_else(|| panic!("{place}: no command"));
            assert_eq!(program, "pilothouse", "{place}: only our own program can be tested here");
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            ran += 1;
            if args.first() == Some(&"serve") {
                serve(&place, &args[1..]);
                continue;
            }
            let agent = env!("CARGO_BIN_EXE_pilothouse-agent");
            let mut args = args;
            if args.starts_with(&["tape", "record"]) {
                args.extend(["--claude", agent]);
            }
            let done = pilothouse_with(home.path(), &args, &[("PILOTHOUSE_SCRIPT", "demo")], b"");
            assert!(done.code < FIRST_FAILURE, "{place}: {done:?}");
            if !output.is_empty() {
                assert_eq!(done.out, output, "{place}");
            }
        }
    }
    assert!(ran >= 10, "{ran} commands");
}

/// Starts a bridge as the documentation says, until it listens.
fn serve(place: &str, args: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    let sources = home.path().join("src");
    fs::create_dir_all(&sources).unwrap();
    let args: Vec<String> =
        args.iter().map(|arg| arg.replace('~', &home.path().display().to_string())).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut served = Served::start_in(home, &args, &[]).await;
        assert!(served.told["url"].is_string(), "{place}: {}", served.told);
        served.child.close(pilothouse_proc::Ladder::now()).await;
    });
}

/// The settings of `serve` are read as they stand, but for the names that only the reader's machine has.
#[tokio::test]
async fn the_settings_of_serve_in_the_documentation_are_taken() {
    let snippet = of("toml").into_iter().find(is_settings_of_serve).expect("the settings in docs/serve.md");
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("src")).unwrap();
    let agent = env!("CARGO_BIN_EXE_pilothouse-agent");
    let text = snippet
        .text
        .replace("/home/me/src", &home.path().join("src").display().to_string())
        .replace("/usr/local/bin/claude", agent);
    assert!(text != snippet.text && text.contains("tls_cert"), "the settings name other things now");
    // A certificate takes a key that belongs to it; https.rs has both.
    let text: String =
        text.lines().filter(|line| !line.starts_with("tls_")).map(|line| format!("{line}\n")).collect();
    fs::write(home.path().join("config.toml"), text).unwrap();
    let mut served = Served::start_in(home, &["--config", "config.toml"], &[]).await;
    assert!(served.told["url"].is_string(), "{}", served.told);
    served.child.close(pilothouse_proc::Ladder::now()).await;
}
