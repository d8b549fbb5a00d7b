//! Code as HTML, its parts told apart by class.
//!
//! A scanner of our own and not a set of grammars: the usual ones work by backtracking regular expressions, whose time a
//! hostile line can drive up, and cost megabytes, while theirs leave out half of what is written today (TypeScript, TOML,
//! Kotlin). This one reads every byte about once, keeps nothing, and is right about comments, strings, numbers and
//! keywords, which is what a reader sees.

mod languages;
mod scan;

pub(crate) use languages::Language;

use super::escape;

/// Every class that highlighted code may have.
pub(crate) const CLASSES: [&str; 14] = [
    "hl-attribute",
    "hl-comment",
    "hl-constant",
    "hl-deleted",
    "hl-function",
    "hl-inserted",
    "hl-keyword",
    "hl-meta",
    "hl-number",
    "hl-property",
    "hl-string",
    "hl-tag",
    "hl-type",
    "hl-variable",
];

/// Code longer than this is shown as it is.
const LONGEST: usize = 64 * 1024;

/// Code as the inside of a `<code>`.
pub(crate) fn html(code: &str, language: Option<&Language>) -> String {
    match language {
        Some(language) if code.len() <= LONGEST => scan::html(code, language),
        _ => escape(code),
    }
}

/// Code as a block of its own.
pub(crate) fn block(code: &str, language: Option<&Language>) -> String {
    let inside = html(code, language);
    match language {
        Some(language) => format!("<pre><code class=\"language-{}\">{inside}</code></pre>", language.name()),
        None => format!("<pre><code>{inside}</code></pre>"),
    }
}

#[cfg(test)]
#[path = "highlight_tests.rs"]
mod tests;
