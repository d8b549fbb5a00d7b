//! The choices that some options take.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use pilothouse_proto::UnknownValue;
use serde_json::{Map, Value};

/// What stands in the place of the system prompt.
///
/// Without one the CLI gets an empty custom prompt, as from the official SDKs. Ask for [`SystemPrompt::claude_code`]
/// to have the one its interactive users get.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemPrompt {
    /// Your own text, instead of the built-in one.
    Custom(Vec<String>),
    /// Your own text, read by the CLI from a file.
    File(PathBuf),
    /// The built-in prompt.
    ClaudeCode {
        /// Text to add at its end.
        append: Option<String>,
        /// Leave out the parts that differ from machine to machine, so that the prompt can be cached.
        exclude_dynamic_sections: bool,
    },
}

impl SystemPrompt {
    /// The built-in prompt, unchanged.
    #[must_use]
    pub fn claude_code() -> Self {
        Self::ClaudeCode { append: None, exclude_dynamic_sections: false }
    }

    /// The built-in prompt with text added at its end.
    #[must_use]
    pub fn claude_code_and(text: impl Into<String>) -> Self {
        Self::ClaudeCode { append: Some(text.into()), exclude_dynamic_sections: false }
    }
}

impl From<&str> for SystemPrompt {
    fn from(text: &str) -> Self {
        Self::Custom(vec![text.to_owned()])
    }
}

impl From<String> for SystemPrompt {
    fn from(text: String) -> Self {
        Self::Custom(vec![text])
    }
}

/// Which built-in tools exist in the session at all.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tools {
    /// What the CLI has by default.
    Default,
    /// Only these; an empty list means none.
    Only(Vec<String>),
}

/// Extended thinking.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// The model decides.
    Adaptive,
    /// A fixed budget of tokens; of none, as [`Thinking::Disabled`].
    Budget(u32),
    /// None.
    Disabled,
}

/// Where one layer of settings comes from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Settings {
    /// A file, read by the CLI.
    File(PathBuf),
    /// The settings themselves.
    Inline(Map<String, Value>),
}

/// A kind of settings file that the CLI may load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingSource {
    /// The user's own, in the config home.
    User,
    /// The project's, shared.
    Project,
    /// The project's, private to this machine.
    Local,
}

/// Which skills the session may use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skills {
    /// Every skill that is found.
    All,
    /// Only these, by name.
    Only(Vec<String>),
}

/// Who answers when a tool call would be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionPrompts {
    /// The host, through its permission handler.
    Host,
    /// Nobody: such calls are denied at once.
    None,
}

/// The markup of previews in the questions that the model asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PreviewFormat {
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
}

/// A plugin on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// Its directory.
    pub path: PathBuf,
    /// Leave out the MCP servers that it brings.
    pub without_mcp: bool,
}

/// How in-process MCP servers are announced to the CLI. Both ways work with a current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum McpRegistration {
    /// In `initialize`, with a manifest that saves the CLI two round trips per server.
    #[default]
    Initialize,
    /// As entries of `--mcp-config`, for CLIs that do not know the other way.
    Flag,
}

/// Gives choices the spelling that the CLI knows them by.
macro_rules! spelled {
    ($($Type:ident { $($Variant:ident = $text:literal),* $(,)? })*) => {$(
        impl $Type {
            /// The spelling that the CLI knows.
            pub fn as_str(self) -> &'static str {
                match self {
                    $( Self::$Variant => $text, )*
                }
            }
        }

        impl fmt::Display for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $Type {
            type Err = UnknownValue;

            fn from_str(text: &str) -> Result<Self, UnknownValue> {
                match text {
                    $( $text => Ok(Self::$Variant), )*
                    other => Err(UnknownValue { value: other.to_owned(), known: &[$($text),*] }),
                }
            }
        }
    )*};
}

spelled! {
    SettingSource { User = "user", Project = "project", Local = "local" }
    PermissionPrompts { Host = "host", None = "none" }
    PreviewFormat { Markdown = "markdown", Html = "html" }
}
