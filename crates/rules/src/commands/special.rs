//! Commands whose arguments are a small language: `find`, `sed`, and options that run other programs.

use super::{
    arguments::{Acceptance, FileWord, Usage},
    options::known_options,
};
use crate::shell::word::Word;

/// What `find` does with its arguments.
pub(crate) fn find(arguments: &[Word]) -> Usage<'_> {
    let mut usage = Usage { looks_around: true, ..Usage::default() };
    let mut in_paths = true;
    for (at, word) in arguments.iter().enumerate() {
        let text = word.text.as_str();
        let is_option = text.starts_with('-') && text.len() > 1;
        if matches!(text, "(" | ")" | "!" | ",") || is_option && !matches!(text, "-H" | "-L" | "-P") {
            in_paths = false;
        }
        if in_paths && !is_option {
            usage.reads.push(FileWord::whole(word));
        }
        let runs =
            ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];
        // A pattern that the shell replaces by the names it finds may become anything.
        let open = word.glob && !word.quoted;
        if runs.contains(&text)
            || text == "-files0-from"
            || open
            || in_paths && text.contains(['*', '?', '['])
            || is_option && !word.is_literal()
        {
            usage.refused.get_or_insert(text);
        }
        usage.follows |= matches!(text, "-L" | "-follow");
        // Tests that look at another file than those found.
        let before = at.checked_sub(1).and_then(|before| arguments.get(before));
        let names_a_file = |test: &str| {
            matches!(test, "-samefile" | "-anewer" | "-cnewer" | "-path" | "-ipath" | "-wholename")
                || test.starts_with("-newer")
        };
        if before.is_some_and(|before| names_a_file(&before.text)) {
            usage.reads.push(FileWord::whole(word));
        }
    }
    usage
}

/// What `sed` does with its arguments. It only reads when it prints lines by number, or substitutes what is piped into
/// it; every other use is judged as a change of the files it names.
pub(crate) fn sed(arguments: &[Word]) -> Usage<'_> {
    let mut usage = Usage::default();
    let mut operands: Vec<&Word> = Vec::new();
    let (mut quiet, mut in_place, mut odd) = (false, false, false);
    let mut scripts: Vec<&Word> = Vec::new();
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word.text.as_str() {
            "--" => {
                operands.extend(rest);
                break;
            }
            "-n" | "-nE" | "-nr" | "-En" | "-rn" | "--quiet" | "--silent" => quiet = true,
            "-E" | "-r" | "--regexp-extended" => {}
            "-i" | "-Ei" | "-ri" | "--in-place" => in_place = true,
            "-e" | "--expression" | "-ne" => {
                odd = true;
                if let Some((script, after)) = rest.split_first() {
                    scripts.push(script);
                    rest = after;
                }
            }
            text if text.starts_with('-') && text.len() > 1 => odd = true,
            _ => operands.push(word),
        }
    }
    if scripts.is_empty() && !operands.is_empty() {
        scripts.push(operands.remove(0));
    }
    let literal = scripts.iter().all(|script| script.is_literal() || script.quoted);
    let all = |is: fn(&str) -> bool| !odd && literal && scripts.iter().all(|script| is(&script.text));
    let files = operands.into_iter().map(FileWord::whole);
    if quiet && !in_place && all(is_print_script) {
        usage.reads.extend(files);
        return usage;
    }
    usage.writes.extend(files);
    // Before an absolute path the script might be taken for the ending of a backup's name.
    let is_clear = !in_place || usage.writes.first().is_none_or(|file| !file.text.starts_with('/'));
    let substitutes = !quiet && is_clear && all(is_simple_substitution);
    if !substitutes {
        usage.acceptance = Acceptance::NotUnderstood;
        if usage.writes.is_empty() {
            usage.refused = Some(scripts.first().map_or("", |script| script.text.as_str()));
        }
    }
    usage
}

/// Whether a sed script prints lines by their numbers, or all of them.
fn is_print_script(script: &str) -> bool {
    script.split(';').all(|command| {
        let address = command.trim().strip_suffix('p');
        address.is_some_and(|address| address.bytes().all(|b| b.is_ascii_digit() || b == b','))
    })
}

/// Whether a sed script is one `s/…/…/` with known flags. The language can also run programs (`e`) and write files
/// (`w`), so anything else is not looked at further.
fn is_simple_substitution(script: &str) -> bool {
    let Some(rest) = script.strip_prefix("s/") else { return false };
    let parts: Vec<&str> = rest.split('/').collect();
    let [_, _, flags] = parts.as_slice() else { return false };
    // With an escaped slash or a second command there would be more parts, or none that are these.
    !rest.contains(['\n', ';']) && flags.chars().all(|flag| matches!(flag, 'g' | 'i' | 'I' | 'p' | '0'..='9'))
}

/// Whether a command changes what others mean, or runs what it is given in a way of its own.
pub(crate) fn runs_its_arguments(name: &str) -> bool {
    matches!(
        name,
        "." | "source"
            | "eval"
            | "exec"
            | "alias"
            | "trap"
            | "let"
            | "shopt"
            | "setsid"
            | "ionice"
            | "chrt"
            | "watch"
    )
}

/// Commands that print something and nothing else when they are called with exactly these arguments.
const TELLS: &[(&str, &[&str])] = &[
    ("ip", &["addr"]),
    ("node", &["--version"]),
    ("node", &["-v"]),
    ("python", &["--version"]),
    ("python3", &["--version"]),
];

/// Whether a command that could do much is only asked what it is.
pub(crate) fn tells_its_version(name: &str, arguments: &[Word]) -> bool {
    let texts: Vec<&str> = arguments.iter().map(|word| word.raw.as_str()).collect();
    TELLS.iter().any(|(known, words)| *known == name && *words == texts)
}

/// Whether a `jq` filter may reach beyond the files it is given.
pub(crate) fn is_open_filter(filter: &str) -> bool {
    let mut names = filter.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'));
    names.any(|name| matches!(name, "env" | "$ENV" | "modulemeta" | "get_search_list"))
}

/// Whether a `jq` filter is made of others that are not in the text, or runs programs in some versions of it.
pub(crate) fn is_filter_of_modules(filter: &str) -> bool {
    let mut names = filter.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    names.any(|name| matches!(name, "import" | "include")) || filter.contains("system(")
}

/// Whether a `docker` command only tells what there is.
pub(crate) fn docker_only_tells(arguments: &[Word]) -> bool {
    let Some((subcommand, rest)) = arguments.split_first() else { return false };
    let list = match subcommand.raw.as_str() {
        "ps" | "images" => return true,
        "logs" => "docker logs",
        "inspect" => "docker inspect",
        _ => return false,
    };
    known_options(list).is_some_and(|known| known.first_unknown(rest).is_none())
}

/// Whether a lone `-` is more than standard input to a command, for all that is known.
pub(crate) fn takes_no_dash(name: &str) -> bool {
    matches!(name, "jq" | "sed" | "test" | "which")
}

/// Whether `ps` is told in its old style to show the environment of processes.
pub(crate) fn shows_environment(arguments: &[Word]) -> bool {
    let old_style = |text: &str| !text.starts_with('-') && text.contains('e');
    arguments.iter().any(|word| old_style(&word.text))
}

/// The command inside an `xargs` that is only told how to read its input; nothing if it is told more.
pub(crate) fn inside_xargs(arguments: &[Word]) -> Option<&[Word]> {
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first().filter(|(word, _)| word.text.starts_with('-')) {
        rest = match word.raw.as_str() {
            "-n" | "-L" | "-P" | "-s" => {
                after.split_first().filter(|(count, _)| count.raw.bytes().all(|b| b.is_ascii_digit()))?.1
            }
            "-I" if after.first().is_none_or(|mark| mark.raw != "{}") => return None,
            "-I" | "-d" => after.get(1..).filter(|command| !command.is_empty())?,
            raw if raw.len() > 1 && raw[1..].chars().all(|letter| "0rtx".contains(letter)) => after,
            _ => return None,
        };
    }
    Some(rest)
}

/// What is known about a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestVerdict {
    /// It only looks.
    Looks,
    /// It is more than looking, for all that is known.
    Unknown,
    /// It computes: a subscript or a name in a sum may run commands.
    Computes,
}

/// What `test`, `[ … ]` and `[[ … ]]` do with their arguments.
pub(crate) fn test(program: &str, arguments: &[Word]) -> TestVerdict {
    let text = |at: usize| arguments.get(at).map_or("", |word| word.text.as_str());
    let is_number = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let mut joined = false;
    for (at, word) in arguments.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", text);
        match word.text.as_str() {
            "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"
                if !(is_number(before) && is_number(text(at + 1))) =>
            {
                return TestVerdict::Computes;
            }
            "-v" | "-R" if text(at + 1).contains('[') => return TestVerdict::Computes,
            "-a" | "-o" => joined = true,
            _ => {}
        }
    }
    for (at, word) in arguments.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", text);
        let compares = program == "[[" && matches!(before, "=" | "==" | "!=" | "=~");
        let opens = program != "[[" && word.text.contains(['[', '(']);
        if word.glob && (compares || !is_bracket(word)) || opens || word.text.contains(['$', '`']) {
            return TestVerdict::Unknown;
        }
        // What joins tests, or looks at variables, is not known by this name.
        let is_option = word.text.starts_with('-') && word.text.len() > 1;
        let is_plain = is_plain_test(&word.text) || word.text == "-t" && is_number(text(at + 1));
        if program == "test" && is_option && !is_plain {
            return TestVerdict::Unknown;
        }
    }
    if program == "[" && joined && arguments.len() > 4 { TestVerdict::Computes } else { TestVerdict::Looks }
}

/// The brackets of a test look like the start of a pattern.
fn is_bracket(word: &Word) -> bool {
    matches!(word.raw.as_str(), "[" | "[[" | "]" | "]]")
}

fn is_plain_test(option: &str) -> bool {
    let compares = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"].contains(&option);
    compares || option.len() == 2 && "bcdefghknprsuwxzGLNOS".contains(&option[1..])
}
