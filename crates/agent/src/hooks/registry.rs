use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use pilothouse_proto::HookEvent;
use pilothouse_rules::{Behavior, Context, Engine, Source, Step, ToolCall};
use pilothouse_settings::{HookCommand, HookGroup, Origin};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::matcher::Matcher;
use super::occasion::Occasion;
use crate::plugins::{PluginHome, PluginHooks};

/// How long a hook may take unless it says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);
/// Nobody waits longer, whatever a file says.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Why the hooks of an `initialize` were refused; none of them count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "initialize: hooks must map events to arrays of matchers, each with an array `hookCallbackIds` of texts \
     and, if any, a text `matcher`"
)]
pub struct RegistrationError;

/// A hook of a settings file that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{origin}: {what}")]
pub struct HookProblem {
    /// Where it is written.
    pub origin: Origin,
    /// What is wrong with it.
    pub what: String,
}

/// Everybody who wants to be told, in the order in which they are told.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    /// Of the host's last `initialize`.
    callbacks: Vec<Arc<Hook>>,
    /// Of settings files.
    written: Vec<Arc<Hook>>,
    /// Of plugins.
    plugins: Vec<Arc<Hook>>,
    /// What cannot be used of settings files, and of plugins.
    problems: Vec<HookProblem>,
    plugin_problems: Vec<HookProblem>,
    /// Fires when the host registers anew: whoever waits for an old callback waits in vain.
    pub(crate) replaced: CancellationToken,
}

#[derive(Debug)]
pub(crate) struct Hook {
    event: HookEvent,
    matcher: Matcher,
    pub(crate) action: Action,
    pub(crate) timeout: Duration,
    /// Whether a failure of the hook blocks what it guards.
    pub(crate) blocks_on_failure: bool,
    /// Whether nobody waits for it.
    pub(crate) detached: bool,
    /// A rule that the tool call must match.
    condition: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// Asks the host, by the id it gave.
    Callback(String),
    /// Runs a shell command.
    Command {
        command: String,
        shell: Option<String>,
        /// The plugin that it is from.
        plugin: Option<PluginHome>,
    },
    /// Posts to a URL.
    Http { url: String, headers: Vec<(String, String)> },
    /// Does nothing, because it is written in a way that cannot be used.
    Unusable(String),
}

impl Registry {
    /// Replaces the host's callbacks. Unknown events are ignored.
    pub(crate) fn register(&mut self, hooks: &Value) -> Result<(), RegistrationError> {
        let mut callbacks = Vec::new();
        if !hooks.is_null() {
            for (event, matchers) in hooks.as_object().ok_or(RegistrationError)? {
                for matcher in matchers.as_array().ok_or(RegistrationError)? {
                    callbacks.extend(callback_hooks(event, matcher)?);
                }
            }
        }
        self.callbacks = callbacks;
        std::mem::take(&mut self.replaced).cancel();
        Ok(())
    }

    /// Replaces what settings files say, and reports what cannot be used.
    pub(crate) fn load(&mut self, groups: &[HookGroup]) -> Vec<HookProblem> {
        let (hooks, problems) = read(groups, None);
        self.written = hooks;
        self.problems.clone_from(&problems);
        problems
    }

    /// Replaces what plugins say, and reports what cannot be used.
    pub(crate) fn load_plugins(&mut self, plugins: &[PluginHooks]) -> Vec<HookProblem> {
        self.plugins.clear();
        let mut all = Vec::new();
        for plugin in plugins {
            let (hooks, problems) = read(&plugin.groups, Some(&plugin.home));
            self.plugins.extend(hooks);
            all.extend(problems);
        }
        self.plugin_problems.clone_from(&all);
        all
    }

    /// What cannot be used of what files say.
    pub(crate) fn problems(&self) -> Vec<HookProblem> {
        self.problems.iter().chain(&self.plugin_problems).cloned().collect()
    }

    /// Who is to be told. Settings files often name the same command twice; it runs once.
    pub(crate) fn matching(&self, occasion: &Occasion) -> Vec<Arc<Hook>> {
        let mut seen = HashSet::new();
        let written = self.written.iter().chain(&self.plugins);
        let written = written.filter(|hook| hook.wants(occasion) && seen.insert(&hook.action));
        let callbacks = self.callbacks.iter().filter(|hook| hook.wants(occasion));
        written.chain(callbacks).cloned().collect()
    }

    pub(crate) fn wants_any(&self, event: &HookEvent) -> bool {
        self.written.iter().chain(&self.plugins).chain(&self.callbacks).any(|hook| hook.event == *event)
    }
}

impl Hook {
    fn wants(&self, occasion: &Occasion) -> bool {
        self.event == occasion.event
            && self.matcher.fits(occasion.subject.as_deref())
            && self.condition.as_deref().is_none_or(|rule| condition_holds(rule, occasion))
    }
}

/// The hooks of files, and what cannot be used of them.
fn read(groups: &[HookGroup], plugin: Option<&PluginHome>) -> (Vec<Arc<Hook>>, Vec<HookProblem>) {
    let (mut hooks, mut problems) = (Vec::new(), Vec::new());
    for group in groups {
        let matcher = Matcher::new(group.matcher.as_deref());
        let matcher = matcher.map_err(|error| format!("the matcher is no regular expression: {error}"));
        if let Err(what) = &matcher {
            problems.push(HookProblem { origin: group.origin.clone(), what: what.clone() });
        }
        for hook in &group.hooks {
            let read = match &matcher {
                Ok(matcher) => written_hook(&group.event, matcher, hook, plugin),
                Err(what) => Err(what.clone()),
            };
            match read {
                Ok(hook) => hooks.push(Arc::new(hook)),
                Err(what) => {
                    if fails_closed(hook) {
                        // It cannot check anything, and nothing may pass unchecked.
                        let all = matcher.clone().unwrap_or_default();
                        hooks.push(Arc::new(unusable_hook(&group.event, all, what.clone())));
                    }
                    if matcher.is_ok() {
                        problems.push(HookProblem { origin: hook.origin.clone(), what });
                    }
                }
            }
        }
    }
    (hooks, problems)
}

/// A condition is a permission rule. It is read as a deny, generously: a hook that guards `rm` sees it in a compound too.
fn condition_holds(rule: &str, occasion: &Occasion) -> bool {
    let Some(call) = &occasion.tool else { return false };
    let mut context = Context::new(call.cwd.to_string_lossy(), "/");
    context.rules.add(Source::Session, Behavior::Deny, rule);
    let call = ToolCall::new(&call.name, call.input.clone());
    Engine::new(context).decide(&call).step == Step::DenyRule
}

fn callback_hooks(event: &str, matcher: &Value) -> Result<Vec<Arc<Hook>>, RegistrationError> {
    let text = match matcher.get("matcher") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.as_str()),
        Some(_) => return Err(RegistrationError),
    };
    let ids = matcher.get("hookCallbackIds").and_then(Value::as_array).ok_or(RegistrationError)?;
    let ids: Option<Vec<&str>> = ids.iter().map(Value::as_str).collect();
    let timeout = matcher.get("timeout").and_then(Value::as_f64);
    // A value that nobody knows is taken for the careful one.
    let blocks_on_failure = match matcher.get("onFailure") {
        None | Some(Value::Null) => false,
        Some(value) => value != "continue",
    };
    // A pattern that cannot be read matches nothing; the host's other hooks still count.
    let Ok(matcher) = Matcher::new(text) else { return Ok(Vec::new()) };
    let hook = |id: &str| {
        Arc::new(Hook {
            event: HookEvent::from(event),
            matcher: matcher.clone(),
            action: Action::Callback(id.to_owned()),
            timeout: seconds(timeout),
            blocks_on_failure,
            detached: false,
            condition: None,
        })
    };
    Ok(ids.ok_or(RegistrationError)?.into_iter().map(hook).collect())
}

/// True if a failure of the hook blocks the call that it guards.
fn fails_closed(written: &HookCommand) -> bool {
    // A value that nobody knows is taken for the careful one.
    let fail_closed =
        written.fields.get("failClosed").is_some_and(|value| value != false && !value.is_null());
    fail_closed || written.text("onFailure").is_some_and(|value| value != "continue")
}

fn unusable_hook(event: &str, matcher: Matcher, what: String) -> Hook {
    Hook {
        event: HookEvent::from(event),
        matcher,
        action: Action::Unusable(what),
        timeout: DEFAULT_TIMEOUT,
        blocks_on_failure: true,
        detached: false,
        condition: None,
    }
}

fn written_hook(
    event: &str,
    matcher: &Matcher,
    written: &HookCommand,
    plugin: Option<&PluginHome>,
) -> Result<Hook, String> {
    let required = |field: &str| {
        let text = written.text(field).filter(|text| !text.trim().is_empty());
        text.map(str::to_owned).ok_or_else(|| format!("a hook of type `{}` needs `{field}`", written.kind))
    };
    let action = match written.kind.as_str() {
        "command" => Action::Command {
            command: required("command")?,
            shell: written.text("shell").map(str::to_owned),
            plugin: plugin.cloned(),
        },
        "http" => Action::Http { url: required("url")?, headers: headers(&written.fields) },
        other => return Err(format!("hooks of type `{other}` do not run here; use `command` or `http`")),
    };
    let is_set = |field: &str| written.fields.get(field).and_then(Value::as_bool) == Some(true);
    Ok(Hook {
        event: HookEvent::from(event),
        matcher: matcher.clone(),
        action,
        timeout: seconds(written.timeout),
        blocks_on_failure: fails_closed(written),
        // The agent does not wait for a detached hook, so a hook that fails closed cannot be detached.
        detached: is_set("async") && !fails_closed(written),
        condition: written.text("if").map(str::to_owned),
    })
}

/// Headers may name environment variables as `$NAME` or `${NAME}`; only those that the hook lists are put in.
fn headers(fields: &Map<String, Value>) -> Vec<(String, String)> {
    let allowed: Vec<&str> = fields
        .get("allowedEnvVars")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let written = fields.get("headers").and_then(Value::as_object).into_iter().flatten();
    written
        .filter_map(|(name, value)| {
            let mut value = value.as_str()?.to_owned();
            for variable in &allowed {
                let content = std::env::var(variable).unwrap_or_default();
                value = value.replace(&format!("${{{variable}}}"), &content);
                value = value.replace(&format!("${variable}"), &content);
            }
            Some((name.clone(), value))
        })
        .collect()
}

fn seconds(timeout: Option<f64>) -> Duration {
    let given = timeout.filter(|seconds| *seconds > 0.0);
    let given = given.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    given.unwrap_or(DEFAULT_TIMEOUT).min(LONGEST_TIMEOUT)
}
