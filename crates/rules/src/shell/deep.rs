//! Every command that a command line could run, seen through quoting, nesting and wrappers. This is the reading
//! that deny and ask rules use: it would rather see too much.

use super::{
    expand::{Variables, expand},
    tree::{self, Found},
    word::Word,
    wrappers,
};
use crate::paths::base_name;

/// How a command is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Route {
    /// The shell that is asked runs it.
    Direct,
    /// Another shell is handed its text; what that one makes of it is less certain.
    OtherShell,
}

/// A command that would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeepCommand {
    pub(crate) words: Vec<Word>,
    pub(crate) route: Route,
}

impl DeepCommand {
    /// The words joined by single spaces, quotes removed.
    pub(crate) fn text(&self) -> String {
        join(&self.words)
    }
}

/// Why not everything could be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unseen {
    /// The grammar reports an error.
    SyntaxError,
    /// Which program runs is only known when it runs.
    ProgramName,
    /// A shell reads commands from a place that is not in the text.
    Script,
    /// Nested more deeply than is looked into.
    Depth,
}

/// The generous reading of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeepReading {
    pub(crate) commands: Vec<DeepCommand>,
    /// Files that redirections read (`false`) or write (`true`).
    pub(crate) redirects: Vec<(bool, Word)>,
    /// Text fed to commands.
    pub(crate) unseen: Option<Unseen>,
    /// Commands by which a shell runs what a file holds.
    pub(crate) scripts: Vec<DeepCommand>,
    /// Directories that `cd` may have moved to, as written.
    pub(crate) directories: Vec<String>,
    /// Words looked at so far.
    words: usize,
}

impl DeepReading {
    /// Whether enough has been looked at; what is left is then unseen.
    fn is_exhausted(&mut self) -> bool {
        let exhausted = self.words > MOST_WORDS;
        if exhausted {
            self.unseen = Some(Unseen::Depth);
        }
        exhausted
    }
}

const DEEPEST: usize = 4;
const LONGEST_VALUE: usize = 1_024;
/// A command line that comes to more words than this, wrappers counted anew for what they run, is not looked through
/// any further: `find -exec find -exec …` would otherwise take for ever.
const MOST_WORDS: usize = 20_000;

/// Reads a command line generously, given its tree.
pub(crate) fn read(command: &str, reading: &tree::TreeReading) -> DeepReading {
    let mut deep = DeepReading::default();
    let mut variables = Variables::new();
    collect(reading, Route::Direct, 0, &mut variables, &mut deep);
    // The shell joins continued lines before it looks at words, the grammar after; except in comments, where it
    // does not join them at all. So both texts are read.
    if command.contains("\\\n") {
        let joined = tree::read(&command.replace("\\\n", ""));
        collect(&joined, Route::Direct, 0, &mut variables, &mut deep);
    }
    deep
}

fn collect(
    reading: &tree::TreeReading,
    route: Route,
    depth: usize,
    variables: &mut Variables,
    deep: &mut DeepReading,
) {
    if reading.has_error {
        deep.unseen.get_or_insert(Unseen::SyntaxError);
    }
    let mut here_texts: Vec<String> = Vec::new();
    let first_own = deep.commands.len();
    let mut reads_script = false;
    for found in &reading.found {
        match found {
            Found::Assignment(name, value) => {
                let value = expand(value, variables);
                // Only what is fully known may stand for the variable later, and `x=$x$x` may not grow for ever.
                let length: usize = value.iter().map(|word| word.text.len()).sum();
                if value.iter().any(|word| word.dynamic) || length > LONGEST_VALUE {
                    variables.remove(name);
                } else {
                    let value: Vec<&str> = value.iter().map(|word| word.text.as_str()).collect();
                    variables.insert(name.clone(), value.join(" "));
                }
            }
            Found::Redirect { writes, target } => {
                for word in expand(target, variables) {
                    deep.redirects.push((*writes, word));
                }
            }
            Found::HereText(text) => here_texts.push(text.clone()),
            Found::Suspect(text) => nested(text, route, depth, variables, deep),
            Found::Command(command) => {
                let words: Vec<Word> = command.words.iter().flat_map(|raw| expand(raw, variables)).collect();
                reads_script |= add(words, route, depth, variables, deep);
            }
        }
        if deep.is_exhausted() {
            return;
        }
    }
    if reads_script {
        deep.unseen.get_or_insert(Unseen::Script);
        // What is printed or held in a here-document is what such a shell would run.
        for command in &deep.commands[first_own..] {
            if command.words.first().is_some_and(|w| matches!(base_name(&w.text), "echo" | "printf" | "cat"))
            {
                here_texts.push(join(command.words.get(1..).unwrap_or_default()));
            }
        }
        for text in here_texts {
            nested(&text, Route::OtherShell, depth, variables, deep);
        }
    }
}

/// Adds a command and all that it runs in turn. Says whether it is a shell that reads its commands elsewhere.
fn add(
    words: Vec<Word>,
    route: Route,
    depth: usize,
    variables: &mut Variables,
    deep: &mut DeepReading,
) -> bool {
    let mut rest: &[Word] = &words;
    let mut reads_script = false;
    // Each turn takes at least one word off.
    loop {
        // Empty and unknown leading words vanish when they expand to nothing: `$x rm y`.
        let known = rest.iter().take_while(|word| word.text.is_empty()).count();
        if known > 0 || rest.first().is_some_and(|word| word.dynamic) {
            deep.unseen.get_or_insert(Unseen::ProgramName);
        }
        rest = &rest[known..];
        let Some(first) = rest.first() else { break };
        deep.words += rest.len();
        if deep.is_exhausted() {
            break;
        }
        deep.commands.push(DeepCommand { words: rest.to_vec(), route });
        reads_script |= look_inside(first, rest, route, depth, variables, deep);
        match wrappers::peel(rest) {
            Some(inner) => rest = inner,
            None => break,
        }
    }
    reads_script
}

fn look_inside(
    first: &Word,
    words: &[Word],
    route: Route,
    depth: usize,
    variables: &mut Variables,
    deep: &mut DeepReading,
) -> bool {
    let name = base_name(&first.text);
    let arguments = words.get(1..).unwrap_or_default();
    match name {
        "cd" | "pushd" => {
            let target = arguments.iter().find(|word| !word.text.starts_with('-'));
            deep.directories.push(target.map_or_else(|| "~".to_owned(), |word| word.text.clone()));
        }
        "eval" => nested(&join(arguments), route, depth, variables, deep),
        "trap" | "alias" | "complete" | "watch" | "entr" | "su" | "script" | "sg" | "nodemon" | "fc" => {
            for word in arguments {
                let text = if name == "alias" {
                    word.text.split_once('=').map_or("", |(_, value)| value)
                } else {
                    word.text.as_str()
                };
                if text.contains(' ') || name == "alias" {
                    nested(text, route, depth, variables, deep);
                }
            }
        }
        "env" => {
            for (at, word) in arguments.iter().enumerate() {
                let split = match word.text.as_str() {
                    "-S" | "--split-string" => arguments.get(at + 1).map(|next| next.text.as_str()),
                    text => text.strip_prefix("-S").or_else(|| text.strip_prefix("--split-string=")),
                };
                if let Some(text) = split {
                    nested(text, route, depth, variables, deep);
                }
            }
        }
        "find" | "fd" | "fdfind" => {
            for (at, word) in arguments.iter().enumerate() {
                let runs = matches!(
                    word.text.as_str(),
                    "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
                );
                if runs && let Some(inner) = arguments.get(at + 1..).filter(|inner| !inner.is_empty()) {
                    add_nested_words(inner, route, depth, variables, deep);
                }
            }
        }
        "git" => look_inside_git(arguments, route, depth, variables, deep),
        "source" | "." => {
            let script = arguments.iter().find(|word| word.text != "--");
            return reads_elsewhere(script) || {
                deep.scripts.push(DeepCommand { words: words.to_vec(), route });
                false
            };
        }
        _ if wrappers::is_shell(name) => {
            let (reads_script, is_file) = look_inside_shell(arguments, depth, variables, deep);
            if is_file {
                deep.scripts.push(DeepCommand { words: words.to_vec(), route });
            }
            return reads_script;
        }
        _ => {}
    }
    false
}

/// Programs that git is told to run.
fn look_inside_git(
    arguments: &[Word],
    route: Route,
    depth: usize,
    variables: &mut Variables,
    deep: &mut DeepReading,
) {
    const RUNS: &[&str] =
        &["-c", "-x", "-u", "--exec", "--upload-pack", "--receive-pack", "--extcmd", "--tree-filter"];
    for (at, word) in arguments.iter().enumerate() {
        let text = word.text.as_str();
        let follows = at
            .checked_sub(1)
            .and_then(|before| arguments.get(before))
            .is_some_and(|w| RUNS.contains(&w.text.as_str()));
        let attached =
            text.split_once('=').filter(|(option, _)| RUNS.contains(option)).map(|(_, value)| value);
        if follows || attached.is_some() || text.contains("=!") {
            let value = attached.or_else(|| text.split_once('=').map(|(_, value)| value)).unwrap_or(text);
            nested(value.trim_start_matches('!'), Route::OtherShell, depth, variables, deep);
        }
        if matches!(text, "run" | "foreach") && at > 0 {
            let inner = arguments.get(at + 1..).unwrap_or_default();
            match inner {
                [script] => nested(&script.text, Route::OtherShell, depth, variables, deep),
                words => add_nested_words(words, route, depth, variables, deep),
            }
        }
    }
}

/// Whether the commands of a script come from elsewhere in the line, or from standard input.
fn reads_elsewhere(script: Option<&Word>) -> bool {
    script.is_none_or(|word| {
        word.dynamic || word.text.starts_with("/dev/") || word.text.contains("<(") || word.text.contains(">(")
    })
}

/// `sh -c text`, `sh script`, or a shell that reads standard input: whether it reads its commands elsewhere in the line, and
/// whether from a file.
fn look_inside_shell(
    arguments: &[Word],
    depth: usize,
    variables: &mut Variables,
    deep: &mut DeepReading,
) -> (bool, bool) {
    let mut script = None;
    let mut is_file = false;
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word.text.as_str() {
            "--rcfile" | "--init-file" => {
                is_file = true;
                rest = rest.get(1..).unwrap_or_default();
            }
            "-o" | "+o" | "-O" | "+O" => rest = rest.get(1..).unwrap_or_default(),
            text if text.starts_with('-') && !text.starts_with("--") && text.contains('c') => {
                if let Some(text) = rest.iter().find(|word| !word.text.starts_with('-')) {
                    if text.dynamic {
                        deep.unseen.get_or_insert(Unseen::Script);
                    }
                    nested(&text.text, Route::OtherShell, depth, variables, deep);
                    // What stands before it would be the script, and this an argument of it.
                    return (false, is_file || script.is_some());
                }
            }
            text if text.starts_with('-') => {
                is_file |= text.starts_with("--rcfile=") || text.starts_with("--init-file=");
            }
            _ => script = script.or(Some(word)),
        }
    }
    let elsewhere = reads_elsewhere(script);
    (elsewhere, is_file || !elsewhere)
}

fn add_nested_words(
    words: &[Word],
    route: Route,
    depth: usize,
    variables: &mut Variables,
    deep: &mut DeepReading,
) {
    if depth >= DEEPEST {
        deep.unseen.get_or_insert(Unseen::Depth);
    } else if !deep.is_exhausted() {
        add(words.to_vec(), route, depth + 1, variables, deep);
    }
}

fn nested(text: &str, route: Route, depth: usize, variables: &mut Variables, deep: &mut DeepReading) {
    deep.words += 1 + text.len() / 8;
    if deep.is_exhausted() {
        return;
    }
    if depth >= DEEPEST {
        deep.unseen.get_or_insert(Unseen::Depth);
        return;
    }
    let reading = tree::read(text);
    let unseen = deep.unseen;
    collect(&reading, route, depth + 1, variables, deep);
    if reading.has_error && depth > 0 && !deep.is_exhausted() {
        // Text that only might be a script need not parse.
        deep.unseen = unseen;
    }
}

fn join(words: &[Word]) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word.text);
    }
    text
}
