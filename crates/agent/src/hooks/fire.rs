use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use pilothouse_proto::system::{HookOutcome, HookResponse, HookStarted, InformationalLevel, System};
use pilothouse_proto::{AgentFrame, Extra, HookEvent, HookOutput, Uuid, decode};
use pilothouse_settings::HookGroup;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::callback::{self, Called};
use super::command::{Ran, Run};
use super::http;
use super::large::within_limits;
use super::occasion::Occasion;
use super::registry::{Action, Hook, HookProblem, RegistrationError, Registry};
use super::report::{Failure, Report, Told};
use crate::plugins::PluginHooks;
use crate::scene::Scene;
use crate::session::Session;

/// Tells hooks what happens. Clones share the registrations.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    registry: Arc<Mutex<Registry>>,
}

impl Hooks {
    /// Takes the `hooks` of an `initialize` as it came. They replace those of an earlier one, and whoever still waits
    /// for an old callback is told so.
    ///
    /// # Errors
    /// When they are not what the protocol wants; those of an earlier `initialize` then stay.
    pub fn register(&self, hooks: &Value) -> Result<(), RegistrationError> {
        self.registry().register(hooks)
    }

    /// Takes the hooks of settings files, and reports those that cannot be used.
    pub fn load(&self, groups: &[HookGroup]) -> Vec<HookProblem> {
        self.registry().load(groups)
    }

    /// Takes the hooks of plugins, and reports those that cannot be used.
    pub(crate) fn load_plugins(&self, plugins: &[PluginHooks]) -> Vec<HookProblem> {
        self.registry().load_plugins(plugins)
    }

    /// The hooks of files that cannot be used, as they were read last.
    pub fn problems(&self) -> Vec<HookProblem> {
        self.registry().problems()
    }

    /// Whether anybody is registered for an event: worth asking before much work for an [`Occasion`].
    pub fn wants(&self, event: &HookEvent) -> bool {
        self.registry().wants_any(event)
    }

    /// Tells everybody concerned, all at once, and gathers what they say.
    pub async fn fire(&self, session: &Arc<Session>, scene: &Scene, occasion: Occasion) -> Report {
        let (hooks, replaced) = {
            let registry = self.registry();
            (registry.matching(&occasion), registry.replaced.clone())
        };
        let occasion = Arc::new(occasion);
        let mut running = Vec::with_capacity(hooks.len());
        for hook in hooks {
            let teller =
                Teller { session: session.clone(), scene: scene.clone(), occasion: occasion.clone() };
            let run = teller.tell(hook.clone(), replaced.clone());
            if hook.detached {
                tokio::spawn(run);
            } else {
                running.push(run);
            }
        }
        let mut report = Report::default();
        for told in join_all(running).await {
            report.add(&occasion.event, told);
        }
        for context in &mut report.contexts {
            *context = within_limits(session, std::mem::take(context));
        }
        report
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells one hook about one occasion.
struct Teller {
    session: Arc<Session>,
    scene: Scene,
    occasion: Arc<Occasion>,
}

impl Teller {
    async fn tell(self, hook: Arc<Hook>, replaced: CancellationToken) -> Told {
        tracing::debug!(event = %self.occasion.event, action = ?hook.action, "a hook is told");
        let (scene, occasion) = (&self.scene, &*self.occasion);
        let told = match &hook.action {
            Action::Callback(id) => {
                let host = self.session.host();
                let names = occasion.id.clone().unwrap_or_else(|| self.fresh().into_string());
                match callback::call(host, id, occasion, &names, hook.timeout, &replaced).await {
                    Called::Answered(output) => Told::Output(output),
                    Called::Unanswered(failure) => Told::Failed(failure),
                    Called::Failed(message) => {
                        tracing::warn!(callback = %id, event = %occasion.event, "{message}");
                        self.say(callback_failed(occasion, id), Some("hook_callback_failed"));
                        Told::Ignored
                    }
                }
            }
            Action::Command { command, shell, plugin } => {
                let shown = self.show_started();
                let launch = self.session.launch();
                let run = Run { command, shell: shell.as_deref(), plugin: plugin.as_ref(), cwd: &scene.cwd };
                let ran = run.to_its_end(occasion, launch, hook.timeout).await;
                if let Some(id) = shown {
                    self.show_response(id, &ran);
                }
                self.read(command, ran)
            }
            Action::Http { url, headers } => {
                let shown = self.show_started();
                let answer = http::post(url, headers, occasion, hook.timeout).await;
                let ran = Ran::of_answer(answer);
                if let Some(id) = shown {
                    self.show_response(id, &ran);
                }
                self.read(url, ran)
            }
            Action::Unusable(what) => {
                self.say_no_verdict(&format!("cannot run ({what})"), false);
                Told::Ignored
            }
        };
        match told {
            Told::Output(output) => {
                if let Some(message) = output.system_message.as_ref().filter(|text| !text.is_empty()) {
                    let message = within_limits(&self.session, message.clone());
                    self.say(format!("{} says: {message}", occasion.name()), None);
                }
                Told::Output(output)
            }
            Told::Ignored if hook.blocks_on_failure && can_block(&occasion.event) => {
                Told::Failed(Failure::Failed)
            }
            told => told,
        }
    }

    /// What a command's output means.
    fn read(&self, command: &str, ran: Ran) -> Told {
        let occasion = &self.occasion;
        if ran.blocks() {
            let reason = ran.stderr.trim();
            let reason = if reason.is_empty() { "the hook gave no reason" } else { reason };
            return Told::Blocked(format!("[{command}]: {reason}"));
        }
        if ran.outcome != HookOutcome::Success {
            let why = match ran.code {
                Some(code) => format!("exit code {code}: {}", ran.stderr.trim()),
                None => format!("it did not end on its own: {}", ran.stderr.trim()),
            };
            tracing::warn!(command, event = %occasion.event, "a hook failed: {why}");
            if let Some(how) = no_verdict(&ran) {
                self.say_no_verdict(&how, ran.outcome == HookOutcome::Cancelled);
            }
            return Told::Ignored;
        }
        let text = ran.stdout.trim();
        if !text.starts_with('{') {
            return Told::Text(ran.stdout);
        }
        match decode::<HookOutput>(text.as_bytes()) {
            Ok(output) => Told::Output(Box::new(output)),
            Err(error) => {
                let what = format!("{} hook printed JSON that is no hook output: {error}", occasion.name());
                self.say(what, Some("hook_failed"));
                Told::Ignored
            }
        }
    }

    /// A hook came to no answer: what it was to check went unchecked.
    fn say_no_verdict(&self, how: &str, timed_out: bool) {
        let occasion = &self.occasion;
        let content = format!("A {} hook {how}, so it checked nothing here", occasion.event);
        let mut told = self.session.informational(InformationalLevel::Warning, content);
        told.tag = "hook_no_verdict".to_owned().into();
        let mut facts = json!({"hook_event": occasion.event.as_str(), "timed_out": timed_out});
        if let Some(id) = &occasion.id {
            facts["tool_use_id"] = id.as_str().into();
        }
        told.extra.insert("hook_no_verdict", facts);
        self.send(System::Informational(Box::new(told)));
    }

    fn say(&self, content: String, tag: Option<&str>) {
        let level = if tag.is_some() { InformationalLevel::Warning } else { InformationalLevel::Notice };
        let mut told = self.session.informational(level, content);
        told.tag = tag.map(str::to_owned).into();
        self.send(System::Informational(Box::new(told)));
    }

    /// Hooks around the start are always shown, the others when the host asked for it. Gives the id they are shown by.
    fn show_started(&self) -> Option<String> {
        let occasion = &self.occasion;
        let always = matches!(occasion.event, HookEvent::SessionStart | HookEvent::Setup);
        if !always && !self.session.launch().hook_events {
            return None;
        }
        let hook_id = self.fresh().into_string();
        let (hook_name, hook_event) = (occasion.name(), occasion.event.to_string());
        let (uuid, session_id) = (self.fresh(), self.scene.session_id.clone());
        let id = hook_id.clone();
        let started = HookStarted { hook_id, hook_name, hook_event, uuid, session_id, extra: Extra::new() };
        self.send(System::HookStarted(Box::new(started)));
        Some(id)
    }

    fn show_response(&self, id: String, ran: &Ran) {
        let occasion = &self.occasion;
        let response = HookResponse {
            hook_id: id,
            hook_name: occasion.name(),
            hook_event: occasion.event.to_string(),
            output: format!("{}{}", ran.stdout, ran.stderr),
            stdout: ran.stdout.clone(),
            stderr: ran.stderr.clone(),
            exit_code: ran.code.map(i64::from).into(),
            outcome: ran.outcome.clone(),
            uuid: self.fresh(),
            session_id: self.scene.session_id.clone(),
            extra: Extra::new(),
        };
        self.send(System::HookResponse(Box::new(response)));
    }

    /// What hooks say about a prompt is told when its turn has begun.
    fn send(&self, frame: System) {
        match (&self.occasion.event, &frame) {
            (HookEvent::UserPromptSubmit, System::Informational(_)) => self.session.hold(frame),
            _ => self.session.output().emit(AgentFrame::System(frame)),
        }
    }

    fn fresh(&self) -> Uuid {
        self.session.stamp().uuid()
    }
}

/// How a command came to no answer at all. Other exit codes are an answer: the command ran, and objects to nothing.
fn no_verdict(ran: &Ran) -> Option<String> {
    match (ran.code, &ran.outcome) {
        (None, HookOutcome::Cancelled) => Some("did not end in time".to_owned()),
        (None, _) => Some(format!("did not run to its end ({})", first_line(&ran.stderr))),
        // A shell exits with 127 for a command that it cannot find, and with 126 for one that it cannot execute.
        (Some(126 | 127), _) => Some(format!("could not be run ({})", first_line(&ran.stderr))),
        _ => None,
    }
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().filter(|line| !line.is_empty()).unwrap_or("it was killed");
    line.chars().take(200).collect()
}

/// Hooks that only watch cannot hold anything up.
fn can_block(event: &HookEvent) -> bool {
    !matches!(
        event,
        HookEvent::Stop | HookEvent::SubagentStop | HookEvent::TaskCompleted | HookEvent::TeammateIdle
    )
}

fn callback_failed(occasion: &Occasion, id: &str) -> String {
    format!(
        "{}: the host's hook callback {id} failed or gave an answer that cannot be read; it counts as no answer",
        occasion.event
    )
}

#[cfg(test)]
#[path = "fire_tests.rs"]
mod tests;
