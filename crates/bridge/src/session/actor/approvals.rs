//! Approvals: asked by the CLI, decided once, and the CLI is told after the log.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{Actor, Answer, FRAMES_BEFORE_APPROVAL, Note, Open};
use crate::api::{
    ApprovalId, ApprovalReply, ApprovalStatus, Decision, ErrorCode, InterruptRequested, Json,
    PermissionRequest, PermissionResolved, Preview, Question, QuestionOption, Reject, Reply,
};
use crate::auth::Project;
use crate::render;
use crate::session::decide::{ToTheCli, Verdict};
use crate::session::recorder::Recorder;
use crate::session::refusal::Refusal;

impl Actor {
    /// Everything that the CLI wrote before it asked is in the log before the request is.
    pub(super) async fn asked(&mut self, request: pilothouse::PermissionRequest) {
        if let Some(cli) = &self.cli {
            cli.session.events_before(&request).await;
        }
        for _ in 0..FRAMES_BEFORE_APPROVAL {
            let Some(cli) = &mut self.cli else { break };
            let frame = tokio::select! {
                biased;
                frame = cli.events.next() => frame,
                () = std::future::ready(()) => break,
            };
            match frame {
                Some(frame) => self.frame(&frame).await,
                None => break,
            }
        }
        let tool_use_id = request.tool_use_id.as_ref().map(ToString::to_string).unwrap_or_default();
        let id = self.fresh_approval_id(&tool_use_id);
        let input = Json::of(&request.input);
        let shown = self.translator.calls.plan_for(&request.tool_name).unwrap_or_else(|| input.clone());
        let preview = preview(Arc::clone(&self.project), request.tool_name.clone(), shown).await;
        let event = PermissionRequest {
            tool_use_id,
            tool_name: request.tool_name.clone(),
            input,
            id: id.clone(),
            suggestions: request.suggestions().to_vec(),
            reason: request.decision_reason.as_ref().or(request.title.as_ref()).cloned(),
            questions: request.questions().into_iter().map(question).collect(),
            preview,
            digest: String::new(),
        }
        .sealed();
        let withdrawn = request.cancelled().clone();
        let (to_self, name) = (self.to_self.clone(), id.clone());
        let over = CancellationToken::new();
        self.approvals.insert(id, Open { request, _watch: over.clone().drop_guard() });
        self.recorder.note(event).await;
        let decide_within = self.decide_within;
        tokio::spawn(async move {
            let undecided = async {
                match decide_within {
                    Some(time) => tokio::time::sleep(time).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = withdrawn.cancelled() => drop(to_self.send(Note::Withdrawn(name)).await),
                () = undecided => drop(to_self.send(Note::Undecided(name)).await),
                () = over.cancelled() => {}
            }
        });
    }

    /// The time is over that the bridge was told to give: that is a no.
    pub(super) async fn undecided(&mut self, id: ApprovalId) {
        if !self.approvals.contains_key(&id) {
            return;
        }
        let seconds = self.decide_within.unwrap_or_default().as_secs();
        let reject = Reject {
            id: id.clone(),
            message: Some(format!("Nobody decided about this within {seconds} seconds.")),
            session_id: None,
            stop: None,
            digest: None,
            expires: None,
        };
        let (nobody, _) = oneshot::channel();
        self.decide(id, None, &Verdict::Deny(reject), "the time limit".to_owned(), nobody).await;
    }

    /// The tool call's own name, unless an approval had it before.
    fn fresh_approval_id(&self, tool_use_id: &str) -> ApprovalId {
        let state = &self.recorder.state;
        let taken = |id: &ApprovalId| {
            state.resolved.contains_key(id) || state.view.approvals.iter().any(|open| open.id == *id)
        };
        let plain = ApprovalId(if tool_use_id.is_empty() { "approval" } else { tool_use_id }.to_owned());
        let numbered = (2_u64..).map(|n| ApprovalId(format!("{plain}#{n}")));
        std::iter::once(plain.clone()).chain(numbered).find(|id| !taken(id)).unwrap_or(plain)
    }

    pub(super) async fn withdrawn(&mut self, id: &ApprovalId) {
        let Some(Open { request, .. }) = self.approvals.remove(id) else { return };
        let resolved = PermissionResolved {
            id: id.clone(),
            tool_use_id: request.tool_use_id.as_ref().map(ToString::to_string).unwrap_or_default(),
            decision: Decision::Withdrawn,
            by: None,
            message: Some("the CLI took it back".to_owned()),
            rules: Vec::new(),
        };
        self.recorder.note(resolved).await;
    }

    pub(super) async fn decide(
        &mut self,
        id: ApprovalId,
        digest: Option<&str>,
        verdict: &Verdict,
        by: String,
        answer: Answer,
    ) {
        let session_id = (*self.recorder.channel.id).clone();
        let Some(open) = self.recorder.state.approval(&id).cloned() else {
            drop(answer.send(Ok(closed(&self.recorder, id))));
            return;
        };
        let ruling = match as_shown(&open, digest).and_then(|()| verdict.on(&open)) {
            Ok(ruling) => ruling,
            Err(refusal) => {
                drop(answer.send(Err(refusal)));
                return;
            }
        };
        if matches!(verdict, Verdict::Deny(Reject { stop: Some(true), .. })) {
            // The turn that ends now does not fail: somebody ends it.
            self.recorder.note(InterruptRequested { by: by.clone() }).await;
        }
        let request = self.approvals.remove(&open.id);
        let resolved = PermissionResolved {
            id: open.id.clone(),
            tool_use_id: open.tool_use_id,
            decision: ruling.decision,
            by: Some(by.clone()),
            message: ruling.message,
            rules: ruling.rules,
        };
        let always =
            matches!(verdict, Verdict::Always(..)).then_some(ruling.decision == Decision::AllowedAlways);
        let (decision, told) = (ruling.decision, ruling.answer);
        if let ToTheCli::AllowUpdating(updates) = &told {
            self.project.clearance().agree_to(self.project.path(), updates, &by);
        }
        // The CLI is told only after the decision is in the log. A request that is dropped because it could not be
        // stored is denied.
        let then = move |stored: Result<_, _>| {
            let reply = stored.map_err(Refusal::from).map(|_| {
                if let Some(open) = request {
                    told.tell(open.request);
                }
                let status = ApprovalStatus::Accepted;
                let (decision, by) = (Some(decision), Some(by));
                ApprovalReply { session_id, id: open.id, status, decision, by, always, why: None }.into()
            });
            drop(answer.send(reply));
        };
        self.recorder.record(resolved, None, then).await;
    }
}

/// Refuses a decision about a request that the user was not shown. A client of the original protocol names no digest: it
/// decides about whatever is open under the id.
fn as_shown(open: &PermissionRequest, digest: Option<&str>) -> Result<(), Refusal> {
    if digest.is_none_or(|digest| digest == open.computed_digest()) {
        return Ok(());
    }
    let message =
        "the request that is open is not the one that was shown, so nothing was decided: look at it again";
    Err(Refusal::new(ErrorCode::StaleApproval, message))
}

/// What a call is about. Comparing it with the file that it changes may take a moment.
async fn preview(project: Arc<Project>, tool: String, input: Json) -> Option<Preview> {
    let read = move |path: &str| project.read(Path::new(path));
    let made = tokio::task::spawn_blocking(move || render::of_request(&tool, &input, read));
    made.await.ok().flatten()
}

/// What somebody is told who decides about an approval that is not open.
pub(crate) fn closed(recorder: &Recorder, id: ApprovalId) -> Reply {
    let session_id = (*recorder.channel.id).clone();
    let nothing = ApprovalReply {
        session_id,
        id,
        status: ApprovalStatus::Gone,
        decision: None,
        by: None,
        always: None,
        why: Some("no such approval is open".to_owned()),
    };
    match recorder.state.resolved.get(&nothing.id) {
        None => nothing.into(),
        Some(over) if over.decision == Decision::Withdrawn => {
            ApprovalReply { why: over.message.clone(), ..nothing }.into()
        }
        Some(over) => ApprovalReply {
            status: ApprovalStatus::AlreadyResolved,
            decision: Some(over.decision),
            by: over.by.clone(),
            why: None,
            ..nothing
        }
        .into(),
    }
}

fn question(question: pilothouse::proto::tool::Question) -> Question {
    let options = question.options.into_iter().map(|option| QuestionOption {
        label: option.label,
        description: option.description,
        preview: option.preview.into_option(),
    });
    Question {
        question: question.question,
        header: question.header,
        options: options.collect(),
        multi_select: question.multi_select,
    }
}
