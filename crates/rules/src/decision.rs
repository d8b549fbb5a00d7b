//! The answer, and everything it has to say for itself.

use std::fmt;

use pilothouse_proto::PermissionUpdate;

use crate::{behavior::Behavior, source::Place, source::Source};

/// What happens to a call, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Allow, ask or deny.
    pub behavior: Behavior,
    /// Why, in a sentence.
    pub reason: String,
    /// The step of the order at which it was decided.
    pub step: Step,
    /// The rule that decided, if one did.
    pub rule: Option<RuleRef>,
    /// For shell commands: each part and what was decided about it.
    pub subcommands: Vec<SubDecision>,
    /// What a host may send back with an approval, so that it is not asked again. `None` when the agent sends no
    /// suggestions at all, as for questions that a rule, a hook or a mode insists on.
    pub suggestions: Option<Vec<PermissionUpdate>>,
    /// The file or directory that stood in the way.
    pub blocked_path: Option<String>,
    /// The kind of reason, as an approval request names it.
    pub reason_type: Option<ReasonType>,
    /// What would make it allowed.
    pub to_allow: Vec<String>,
    /// What would make it denied.
    pub to_deny: Vec<String>,
    /// What it means for the count of refusals in a row.
    pub block_count: BlockCount,
}

/// The rule that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRef {
    /// Its text.
    pub text: String,
    /// What it says.
    pub behavior: Behavior,
    /// Its scope.
    pub source: Source,
    /// Its file and line, if it is written in a file.
    pub place: Option<Place>,
}

impl fmt::Display for RuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({}", self.behavior, self.text, self.source)?;
        if let Some(place) = &self.place {
            write!(f, ", {place}")?;
        }
        f.write_str(")")
    }
}

/// What was decided about one part of a shell command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubDecision {
    /// The part, as written.
    pub command: String,
    /// Allow, ask or deny.
    pub behavior: Behavior,
    /// Why.
    pub reason: String,
    /// The rule, if one decided.
    pub rule: Option<RuleRef>,
}

/// The order in which a call is checked. Earlier steps win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A hook denied it.
    HookDeny,
    /// A deny rule matched.
    DenyRule,
    /// An ask rule matched.
    AskRule,
    /// A hook wants it asked.
    HookAsk,
    /// The tool always needs the user.
    UserInteraction,
    /// The mode passes everything that is left.
    BypassMode,
    /// A hook allowed it.
    HookAllow,
    /// The tool itself knows the call to be harmless.
    ToolCheck,
    /// It would change a file that steers other programs.
    SafetyCheck,
    /// An allow rule matched.
    AllowRule,
    /// The mode decides about calls of this kind.
    Mode,
    /// The classifier was consulted.
    Classifier,
    /// Nothing matched.
    Default,
}

impl Step {
    /// The number of the step, counted from 1.
    #[must_use]
    pub fn number(self) -> usize {
        self as usize + 1
    }

    /// The step in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HookDeny => "hook denies",
            Self::DenyRule => "deny rules",
            Self::AskRule => "ask rules",
            Self::HookAsk => "hook asks",
            Self::UserInteraction => "tool needs the user",
            Self::BypassMode => "bypass mode",
            Self::HookAllow => "hook allows",
            Self::ToolCheck => "tool's own check",
            Self::SafetyCheck => "sensitive files",
            Self::AllowRule => "allow rules",
            Self::Mode => "mode",
            Self::Classifier => "classifier",
            Self::Default => "nothing matched",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The kind of reason that an approval request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReasonType {
    /// A rule.
    Rule,
    /// The parts of a compound.
    SubcommandResults,
    /// A path outside the working directories.
    WorkingDir,
    /// A sensitive file.
    SafetyCheck,
    /// The mode.
    Mode,
    /// A hook.
    Hook,
    /// The classifier.
    Classifier,
    /// Anything else.
    Other,
}

impl ReasonType {
    /// The name used on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::SubcommandResults => "subcommandResults",
            Self::WorkingDir => "workingDir",
            Self::SafetyCheck => "safetyCheck",
            Self::Mode => "mode",
            Self::Hook => "hook",
            Self::Classifier => "classifier",
            Self::Other => "other",
        }
    }
}

/// What a decision does to the count in [`Outage::Passing`](crate::Outage).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockCount {
    /// It stays.
    #[default]
    Keep,
    /// It grows by one.
    Count,
    /// It starts again at nought.
    Reset,
}
