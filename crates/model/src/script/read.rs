use std::fmt;
use std::path::{Path, PathBuf};

use super::check;
use super::format::Script;

/// Larger files are no scripts.
const LARGEST: u64 = 16 * 1024 * 1024;

/// What a script is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptSyntax {
    /// TOML.
    Toml,
    /// YAML, and with it JSON.
    Yaml,
}

/// A script that cannot be played, and where it is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScriptError {
    /// The file, if it came from one.
    pub file: Option<PathBuf>,
    /// The line, from 1; 0 when the file could not be read at all.
    pub line: usize,
    /// The column in that line, in characters from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", file.display())?;
        }
        if self.line > 0 {
            write!(f, "{}:{}:", self.line, self.column)?;
        }
        let space = if self.file.is_some() || self.line > 0 { " " } else { "" };
        write!(f, "{space}{}", self.message)
    }
}

impl Script {
    /// Reads a script from a file; its ending says what it is written in.
    ///
    /// # Errors
    /// When the file cannot be read or is no script; the error says where.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let fail = |message: String| ScriptError { file: Some(path.to_owned()), line: 0, column: 0, message };
        let syntax = match path.extension().and_then(|ending| ending.to_str()) {
            Some("toml") => ScriptSyntax::Toml,
            Some("yaml" | "yml" | "json") => ScriptSyntax::Yaml,
            _ => {
                return Err(fail(
                    "cannot tell what it is written in: name it .toml, .yaml or .json".to_owned(),
                ));
            }
        };
        let size =
            std::fs::metadata(path).map_err(|error| fail(format!("cannot read the script: {error}")))?.len();
        if size > LARGEST {
            return Err(fail(format!("the script is larger than {LARGEST} bytes")));
        }
        let text = std::fs::read_to_string(path)
            .map_err(|error| fail(format!("cannot read the script: {error}")))?;
        Self::parse(&text, syntax).map_err(|error| ScriptError { file: Some(path.to_owned()), ..error })
    }

    /// Reads a script from text.
    ///
    /// # Errors
    /// When it is no script; the error says where.
    ///
    /// ```
    /// use pilothouse_model::{Script, ScriptSyntax};
    ///
    /// let script = Script::parse("[[turn]]\nsay = 'hello'\n", ScriptSyntax::Toml)?;
    /// assert_eq!(script.turns[0].say.as_deref(), Some("hello"));
    ///
    /// let error = Script::parse("[[turn]]\nsaay = 'hello'\n", ScriptSyntax::Toml).unwrap_err();
    /// assert_eq!((error.line, error.column), (2, 1));
    /// # Ok::<(), pilothouse_model::ScriptError>(())
    /// ```
    pub fn parse(text: &str, syntax: ScriptSyntax) -> Result<Self, ScriptError> {
        let script = match syntax {
            ScriptSyntax::Toml => from_toml(text),
            ScriptSyntax::Yaml => from_yaml(text),
        }?;
        check::check(&script, text)?;
        Ok(script)
    }
}

fn from_toml(text: &str) -> Result<Script, ScriptError> {
    toml::from_str(text).map_err(|error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        ScriptError { file: None, line, column, message: one_line(error.message()) }
    })
}

fn from_yaml(text: &str) -> Result<Script, ScriptError> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_events: 200_000, max_aliases: 100, max_anchors: 100 },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let (line, column) = error.location().map_or((1, 1), |at| (number(at.line()), number(at.column())));
        ScriptError { file: None, line, column, message: one_line(&error.to_string()) }
    })
}

/// The line and column of a place in the text, both from 1.
pub(super) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}
