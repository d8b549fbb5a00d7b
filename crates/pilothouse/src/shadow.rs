//! Options that keep the permission handler from being asked.

use std::fmt;

use pilothouse_proto::PermissionMode;

use crate::options::Options;
use crate::options::values::PermissionPrompts;

/// One reason why a permission handler will not hear of some calls, though one is set.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shadow {
    /// A rule allows a whole tool.
    Rule(String),
    /// The mode decides by itself.
    Mode(PermissionMode),
    /// Prompts are switched off.
    Prompts,
}

impl fmt::Display for Shadow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(rule) => {
                write!(f, "the permission handler is not asked about `{rule}`: a rule allows it")
            }
            Self::Mode(mode) => write!(f, "the permission handler is hardly ever asked in the mode `{mode}`"),
            Self::Prompts => {
                f.write_str("the permission handler is never asked: permission prompts are switched off")
            }
        }
    }
}

/// All of them; none without a handler.
pub(crate) fn find(options: &Options) -> Vec<Shadow> {
    if options.handlers.permission.is_none() {
        return Vec::new();
    }
    let flags = &options.flags;
    let whole_tools = flags.allowed_tools.iter().filter(|rule| allows_whole_tool(rule));
    let mut shadows: Vec<Shadow> = whole_tools.cloned().map(Shadow::Rule).collect();
    if let Some(mode @ (PermissionMode::BypassPermissions | PermissionMode::DontAsk)) = &flags.permission_mode
    {
        shadows.push(Shadow::Mode(mode.clone()));
    }
    if flags.permission_prompts == Some(PermissionPrompts::None) {
        shadows.push(Shadow::Prompts);
    }
    shadows
}

/// A rule without content, with empty content, or with a lone star covers every call.
fn allows_whole_tool(rule: &str) -> bool {
    match rule.split_once('(') {
        None => true,
        Some((_, content)) => matches!(content.strip_suffix(')'), Some("" | "*")),
    }
}

#[cfg(test)]
#[path = "shadow_tests.rs"]
mod tests;
