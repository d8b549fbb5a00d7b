//! Variables before a command that may be left out of account.

use crate::shell::word::Word;

/// Variables that change how a program shows things, and nothing about what it does.
const HARMLESS_VARIABLES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "BLOCK_SIZE",
    "CGO_ENABLED",
    "CHARSET",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "FORCE_COLOR",
    "GO111MODULE",
    "GOARCH",
    "GOOS",
    "GREP_COLORS",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_TIME",
    "LINES",
    "LS_COLORS",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TIME_STYLE",
    "TZ",
];

/// Whether a word such as `NODE_ENV=test` may be left out of account.
pub(crate) fn is_harmless_assignment(word: &Word) -> bool {
    word.raw.split_once('=').is_some_and(|(name, value)| {
        let is_harmless = match name {
            "LANG" | "LC_ALL" => is_locale(value),
            // A zone may be the path of a file, and `:` before it says so.
            _ => !value.starts_with(['/', ':', '.']) && !value.contains(".."),
        };
        HARMLESS_VARIABLES.contains(&name)
            && !value.is_empty()
            && is_harmless
            && !word.quoted
            && word.is_literal()
    })
}

/// Whether a value names a locale: `C`, `C.UTF-8`, `en_US.UTF-8`.
fn is_locale(value: &str) -> bool {
    let name = value.split('.').next().unwrap_or(value);
    let language = name.split('_').next().unwrap_or(name);
    let is_known = matches!(name, "C" | "POSIX") || matches!(language.len(), 2 | 3);
    is_known
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-@".contains(&b))
        && !value.contains("..")
}
