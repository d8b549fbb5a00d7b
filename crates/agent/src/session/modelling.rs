//! Which model a session asks, and how.

use pilothouse_model::ModelInfo;
use serde_json::Value;

use super::Session;

impl Session {
    /// What is known of the model in force.
    pub fn model_info(&self) -> ModelInfo {
        let settings = self.settings();
        let for_turn = self.state().turn_model.clone();
        let wanted = for_turn.or_else(|| self.wanted_model());
        let wanted = wanted.or_else(|| self.launch.env.get("ANTHROPIC_MODEL").map(str::to_owned));
        let wanted = wanted.or_else(|| settings.model().map(|model| model.value));
        let name = wanted.as_deref().unwrap_or("default");
        ModelInfo::with_aliases(name, |variable| self.launch.env.get(variable).map(str::to_owned))
    }

    /// The model as it was asked for; none is the default one.
    pub fn wanted_model(&self) -> Option<String> {
        self.state().model.clone()
    }

    /// Uses another model for the rest of the turn.
    pub(crate) fn set_turn_model(&self, model: Option<String>) {
        self.state().turn_model = model.filter(|model| model != "inherit");
    }

    /// Asks for another model from the next call on.
    pub fn want_model(&self, model: Option<String>) {
        self.state().model = model;
    }

    /// The most to think, if that was limited.
    pub fn max_thinking_tokens(&self) -> Option<u64> {
        self.state().max_thinking_tokens
    }

    pub(crate) fn set_max_thinking_tokens(&self, tokens: Option<u64>) {
        self.state().max_thinking_tokens = tokens;
    }

    /// How hard the model is to try, if that is not left to it.
    pub(crate) fn effort(&self) -> Option<String> {
        self.state().effort.clone()
    }

    pub(crate) fn set_effort(&self, effort: Option<String>) {
        self.state().effort = effort;
    }

    /// How thinking is shown, if anybody said so.
    pub(crate) fn thinking_display(&self) -> Option<String> {
        self.state().thinking_display.clone().or_else(|| self.launch.thinking_display.clone())
    }

    pub(crate) fn set_thinking_display(&self, display: Option<String>) {
        self.state().thinking_display = display;
    }

    /// The models to go on with when the one in force cannot answer, in this order.
    pub(crate) fn fallback_models(&self, model: &str) -> Vec<String> {
        let mut names = self.launch.fallback_models.clone();
        if names.is_empty() {
            let written = self.settings().effective().get("fallbackModel").cloned();
            names = match written {
                Some(Value::String(name)) => vec![name],
                Some(Value::Array(names)) => {
                    names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                _ => Vec::new(),
            };
        }
        let variable = |name: &str| self.launch.env.get(name).map(str::to_owned);
        let models: Vec<String> =
            names.iter().map(|name| ModelInfo::with_aliases(name, variable).id).collect();
        // What was left because it failed is not gone back to in the same turn.
        let used = models.iter().position(|name| name == model).map_or(0, |at| at + 1);
        models.into_iter().skip(used).collect()
    }
}
