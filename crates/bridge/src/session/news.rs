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
    /// What an event means for somebody who does not look. `view` is the session after it.
    pub(crate) fn of(event: &Event, view: &SessionView) -> Option<Self> {
        let project = view.project_path.rsplit('/').next().unwrap_or_default();
        let name = short(view.title.as_deref().unwrap_or(project));
        let (approval_id, title, body) = match event {
            Event::PermissionRequest(request) => {
                (Some(request.id.clone()), format!("{name} needs you"), asked(request))
            }
            Event::Result(end) => match (end.subtype.as_str(), &end.error) {
                // Whoever stopped it knows.
                ("stopped", _) => return None,
                (_, Some(error)) => (None, format!("{name} failed"), short(error)),
                (_, None) => (
                    None,
                    format!("{name} is ready"),
                    short(view.last_line.as_deref().unwrap_or("The turn is over.")),
                ),
            },
            _ => return None,
        };
        Some(Self { session_id: view.session_id.clone(), approval_id, title, body })
    }
}

fn asked(request: &PermissionRequest) -> String {
    if let Some(question) = request.questions.first() {
        return short(&question.question);
    }
    if request.tool_name == "ExitPlanMode" {
        return "There is a plan to look at.".to_owned();
    }
    let input: serde_json::Value = serde_json::from_str(request.input.get()).unwrap_or_default();
    let told = ["command", "file_path", "notebook_path", "url", "query", "pattern"];
    let about = told.iter().find_map(|name| input.get(name).and_then(serde_json::Value::as_str));
    short(&about.map_or_else(|| request.tool_name.clone(), |about| format!("{}: {about}", request.tool_name)))
}

/// One line that fits.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST - 1).chain(['…']).collect()
}
