//! What is left open about a shell command, and the question that comes of it.
//!
//! One open part is asked about as what it is. Of several, each is offered a rule, in one suggestion for the parts of a
//! sequence and in one for each side of a pipe; and nothing at all is offered where a rule would not be enough.

use pilothouse_proto::{PermissionRuleValue, PermissionUpdate};

use crate::{
    context::Context,
    decision::{ReasonType, Step},
    explain,
    judge::{Cause, Outcome, PartVerdict},
    opinion::Asked,
    shell::plain::{Joint, PlainCommand},
    suggest,
};

/// More rules than this are not offered at once.
const MOST_RULES: usize = 5;

/// A part that nobody vouches for.
pub(crate) struct OpenPart<'a> {
    part: &'a PlainCommand,
    pub(crate) cause: &'a Cause,
    /// Which side of the pipes it stands on, from the left.
    segment: usize,
}

impl OpenPart<'_> {
    /// Whether leave for this part is leave for another as well.
    fn answers(&self, other: &Cause) -> bool {
        let moves = self.part.words.first().is_some_and(|word| word.text == "cd");
        match (self.cause, other) {
            (Cause::ReadsOutside { path, .. }, Cause::ReadsOutside { path: other, further, .. }) => {
                moves
                    && std::iter::once(other).chain(further).all(|other| crate::paths::is_within(other, path))
            }
            _ => false,
        }
    }

    /// Whether it is about where output goes.
    fn is_output(&self) -> bool {
        match self.cause {
            Cause::Writes { by_redirect, .. }
            | Cause::Sensitive { by_redirect, .. }
            | Cause::UnknownFile { by_redirect, .. }
            | Cause::NotFollowed { by_redirect } => *by_redirect,
            _ => false,
        }
    }

    /// Whether the question is which command runs, not which files it is given.
    pub(crate) fn is_about_the_command(&self) -> bool {
        matches!(self.cause, Cause::Unknown | Cause::Argument(_))
    }
}

/// All open parts of a command.
pub(crate) struct Open<'a> {
    command: &'a str,
    context: &'a Context,
    pub(crate) causes: Vec<OpenPart<'a>>,
    parts: usize,
    segments: usize,
}

impl<'a> Open<'a> {
    pub(crate) fn of(
        command: &'a str,
        parts: &'a [PlainCommand],
        verdicts: &'a [PartVerdict],
        context: &'a Context,
    ) -> Self {
        let mut segment = 0;
        let mut causes = Vec::new();
        for (part, verdict) in parts.iter().zip(verdicts) {
            segment += usize::from(part.joint == Joint::Pipe);
            if let Outcome::Ask(cause) = &verdict.outcome {
                // What is read where it has moved to is part of the question about moving there.
                if causes.iter().any(|open: &OpenPart<'_>| open.answers(cause)) {
                    continue;
                }
                causes.push(OpenPart { part, cause, segment });
            }
        }
        Self { command, context, causes, parts: parts.len(), segments: segment + 1 }
    }

    /// Whether all that is open is one file that is changed.
    pub(crate) fn is_one_change(&self) -> bool {
        matches!(self.causes.as_slice(), [only] if matches!(only.cause, Cause::Writes { .. } | Cause::MayWrite { .. }))
    }

    /// The question about them, which starts with this cause.
    pub(crate) fn question(&self, first: &Cause) -> Asked {
        let mut asked = Asked::new(explain::cause(first), None);
        // These are about the command as a whole.
        let whole = self.causes.iter().find(|open| matches!(open.cause, Cause::MovedGit | Cause::MovedTwice));
        match (whole, self.causes.as_slice()) {
            (Some(open), _) => {
                asked.reason = explain::cause(open.cause);
                asked.reason_type = Some(ReasonType::Other);
            }
            (None, [only]) => self.about_one(only, &mut asked),
            _ => {
                asked.reason_type = Some(ReasonType::SubcommandResults);
                asked.suggestions = self.for_all();
            }
        }
        asked
    }

    fn about_one(&self, only: &OpenPart<'_>, asked: &mut Asked) {
        asked.reason_type = reason_type(only.cause);
        asked.blocked_path = blocked_path(only.cause);
        if matches!(only.cause, Cause::Sensitive { .. }) {
            asked.step = Step::SafetyCheck;
        }
        if only.is_about_the_command() {
            let rule = match only.part.words.is_empty() && only.part.assignments.is_empty() {
                true => Some(suggest::whole_command_rule(self.command)),
                false => suggest::part_rule(only.part),
            };
            asked.suggestions = rule.map(|rule| vec![suggest::allow_rules(vec![rule])]);
            if self.parts > 1 {
                asked.reason_type = Some(ReasonType::SubcommandResults);
            }
            return;
        }
        asked.suggestions = self.for_files(only.cause).map(|(with_rule, mut updates)| {
            if with_rule {
                let rule = suggest::whole_command_rule(self.command);
                updates.insert(0, suggest::allow_rules(vec![rule]));
            }
            updates
        });
        // Each side of a pipe is looked at for itself, except for where the output goes.
        if self.segments > 1 && !only.is_output() {
            asked.reason_type = Some(ReasonType::SubcommandResults);
            asked.blocked_path = None;
        }
    }

    /// What is offered for the files of a part, and whether a rule for the command belongs to it.
    fn for_files(&self, cause: &Cause) -> Option<(bool, Vec<PermissionUpdate>)> {
        let mode = suggest::accept_edits(self.context.mode);
        let directory =
            |path: &str| suggest::add_directory(&suggest::directory_of(path, false, self.context));
        match cause {
            Cause::ReadsOutside { path, is_dir, further } => {
                let directory = suggest::directory_of(path, *is_dir, self.context);
                if further.iter().any(|path| !crate::paths::is_within(path, &directory)) {
                    return None;
                }
                let reading: Vec<_> = suggest::allow_reading(&directory).into_iter().collect();
                Some((!reading.is_empty(), reading))
            }
            Cause::MayWrite { path } => Some((true, std::iter::once(directory(path)).chain(mode).collect())),
            Cause::Writes { path, by_redirect } => {
                let mode = mode.filter(|_| !by_redirect);
                Some((true, std::iter::once(directory(path)).chain(mode).collect()))
            }
            Cause::Sensitive { path, by_redirect } => {
                let mode = mode.filter(|_| !by_redirect);
                Some((false, std::iter::once(directory(path)).chain(mode).collect()))
            }
            Cause::UnknownFile { directory: Some(path), by_redirect, .. } => {
                let mode = mode.filter(|_| !by_redirect);
                Some((true, std::iter::once(suggest::add_directory(path)).chain(mode).collect()))
            }
            Cause::Opaque => Some((false, Vec::new())),
            Cause::NotFollowed { by_redirect: false } => Some((mode.is_some(), mode.into_iter().collect())),
            _ => None,
        }
    }

    /// What is offered for several open parts.
    fn for_all(&self) -> Option<Vec<PermissionUpdate>> {
        if self.causes.iter().any(OpenPart::is_output) {
            return None;
        }
        let asking = |segment: usize| self.causes.iter().filter(move |open| open.segment == segment);
        let mut updates: Vec<PermissionUpdate> = Vec::new();
        for segment in 0..self.segments {
            let open: Vec<&OpenPart<'_>> = asking(segment).collect();
            let new = match open.as_slice() {
                [] => continue,
                [only] if self.segments > 1 && !only.is_about_the_command() => self.for_files(only.cause)?.1,
                several => vec![suggest::allow_rules(self.rules(several)?)],
            };
            for update in new {
                if !updates.contains(&update) {
                    updates.push(update);
                }
            }
        }
        Some(updates)
    }

    /// One rule for each open part of a sequence.
    fn rules(&self, open: &[&OpenPart<'_>]) -> Option<Vec<PermissionRuleValue>> {
        let mut rules: Vec<PermissionRuleValue> = Vec::new();
        for open in open {
            let rule = match open.cause {
                Cause::ReadsOutside { path, is_dir, .. } => {
                    suggest::reading_rule(&suggest::directory_of(path, *is_dir, self.context))?
                }
                Cause::Unknown | Cause::Argument(_) => suggest::part_rule(open.part)?,
                Cause::Writes { path, .. } | Cause::MayWrite { path }
                    if self.context.is_working_path(path) =>
                {
                    suggest::part_rule(open.part)?
                }
                _ => return None,
            };
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        (rules.len() <= MOST_RULES).then_some(rules)
    }
}

fn reason_type(cause: &Cause) -> Option<ReasonType> {
    match cause {
        Cause::ReadsOutside { .. } | Cause::Writes { .. } | Cause::MayWrite { .. } => None,
        Cause::Sensitive { .. } => Some(ReasonType::SafetyCheck),
        _ => Some(ReasonType::Other),
    }
}

fn blocked_path(cause: &Cause) -> Option<String> {
    match cause {
        Cause::ReadsOutside { path, .. }
        | Cause::Writes { path, .. }
        | Cause::MayWrite { path }
        | Cause::Sensitive { path, .. } => Some(path.clone()),
        Cause::UnknownFile { word, .. } => Some(word.clone()),
        _ => None,
    }
}
