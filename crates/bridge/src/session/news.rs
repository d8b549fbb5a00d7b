//! What somebody should hear of who does not look.

use crate::api::{ApprovalId, Event, PermissionRequest, SessionId, SessionView};

/// How long the text of a notification is, in characters.
const LONGEST: usize = 200;

/// Something that a user should know of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) session_id: SessionId,
    /// What waits for a decision; nothing when a turn is over.
    pub(crate) approval_id: Option<ApprovalId>,
    pub(crate) title: String,
    pub(crate) body: String,
}

impl News {
    /// What an event means for somebody who does not look. `view` is the session after it; `interrupted` tells whether somebody
    /// has ended its turn.
    pub(crate) fn of(event: &Event, view: &SessionView, interrupted: bool) -> Option<Self> {
        let name = name_of(view);
        let (title, body) = match event {
            Event::PermissionRequest(request) => return Some(Self::asked(request, view)),
            Event::Result(end) => match (end.subtype.as_str(), &end.error) {
                // Whoever stopped it knows, and it has not failed.
                ("stopped", _) => return None,
                (subtype, _) if interrupted && subtype != "success" => return None,
                (_, Some(error)) => (format!("{name} failed"), short(error)),
                (_, None) => (
                    if view.background.is_empty() {
                        format!("{name} is ready")
                    } else {
                        format!("{name} still runs in the background")
                    },
                    short(view.last_line.as_deref().unwrap_or("The turn is over.")),
                ),
            },
            _ => return None,
        };
        Some(Self { session_id: view.session_id.clone(), approval_id: None, title, body })
    }

    /// Something waits for a decision.
    pub(crate) fn asked(request: &PermissionRequest, view: &SessionView) -> Self {
        Self {
            session_id: view.session_id.clone(),
            approval_id: Some(request.id.clone()),
            title: format!("{} needs you", name_of(view)),
            body: about(request),
        }
    }
}

fn name_of(view: &SessionView) -> String {
    let project = view.project_path.rsplit('/').next().unwrap_or_default();
    short(view.title.as_deref().unwrap_or(project))
}

fn about(request: &PermissionRequest) -> String {
    if let Some(question) = request.questions.first() {
        return short(&question.question);
    }
    if request.tool_name == "ExitPlanMode" {
        return "There is a plan to look at.".to_owned();
    }
    let input: serde_json::Value = serde_json::from_str(request.input.get()).unwrap_or_default();
    let told = ["command", "file_path", "notebook_path", "url", "query", "pattern"];
    let what = told.iter().find_map(|name| input.get(name).and_then(serde_json::Value::as_str));
    short(&what.map_or_else(|| request.tool_name.clone(), |what| format!("{}: {what}", request.tool_name)))
}

/// One line that fits.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = revealed(&line);
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// A line in which characters that cannot be seen, or that turn the direction of others, are shown by their numbers.
fn revealed(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for char in line.chars() {
        match char {
            '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e0fff}' => shown.push_str(&format!("U+{:04X}", u32::from(char))),
            char if char.is_control() => shown.push_str(&format!("U+{:04X}", u32::from(char))),
            char => shown.push(char),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_of_a_command_are_shown_in_a_notification() {
        assert_eq!(short("touch \u{202e}txt\u{7}\u{200b}.sh ⛵"), "touch U+202EtxtU+0007U+200B.sh ⛵");
    }
}
