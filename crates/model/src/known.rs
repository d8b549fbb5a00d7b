use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::Deserializer;

use crate::money::Price;

/// The longer context window that a name can ask for by its ending.
const LONG_CONTEXT: (&str, u64) = ("[1m]", 1_000_000);

/// Read when it is first asked for, so that starting up costs nothing.
static KNOWN: LazyLock<Known> =
    LazyLock::new(|| toml::from_str(include_str!("models.toml")).unwrap_or_default());

/// What is known about a model.
///
/// ```
/// use pilothouse_model::ModelInfo;
///
/// let haiku = ModelInfo::of("haiku");
/// assert_eq!(haiku.id, "claude-haiku-5-5");
/// assert!(haiku.is_known);
/// assert_eq!(ModelInfo::of("claude-sonnet-4-5-20250929").canonical, "claude-sonnet-4-5-20250929");
/// assert!(!ModelInfo::of("my-own-model").is_known);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// The name it goes by in reports: an alias is resolved, an ending such as `[1m]` is kept where it means something.
    pub id: String,
    /// The name that the API knows.
    pub canonical: String,
    /// The name for people.
    pub display_name: String,
    /// What it costs.
    pub prices: Prices,
    /// How many tokens it can read.
    pub context_window: u64,
    /// How many tokens it writes at most, unless a request says otherwise.
    pub max_output: u64,
    /// How it can think.
    pub thinking: ThinkingStyle,
    /// How hard it tries by default; none where that cannot be said.
    pub effort: Option<String>,
    /// Whether it is in our table; the figures of any other model are guesses.
    pub is_known: bool,
}

/// Prices of a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// Read, not cached.
    pub input: Price,
    /// Written.
    pub output: Price,
    /// Read from the cache.
    pub cache_read: Price,
    /// Put into the cache for five minutes.
    pub cache_write_5m: Price,
    /// Put into the cache for an hour.
    pub cache_write_1h: Price,
}

/// How a model can think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingStyle {
    /// As much as it wants.
    #[default]
    Adaptive,
    /// Up to a number of tokens that the request gives.
    Budget,
    /// Not at all.
    None,
}

impl ModelInfo {
    /// Looks a model up by its id or alias.
    pub fn of(name: &str) -> Self {
        Self::with_aliases(name, |_| None)
    }

    /// Looks a model up where aliases can be given another meaning by the environment, such as
    /// `ANTHROPIC_DEFAULT_OPUS_MODEL`.
    pub fn with_aliases(name: &str, environment: impl Fn(&str) -> Option<String>) -> Self {
        let (bare, wants_long) = match name.strip_suffix(LONG_CONTEXT.0) {
            Some(bare) => (bare, true),
            None => (name, false),
        };
        let canonical = resolve_alias(bare, &environment);
        let row = KNOWN.models.iter().filter(|row| row.is_for(&canonical)).max_by_key(|row| row.id.len());
        let (figures, display_name) = match row {
            Some(row) => (&row.figures, row.name.clone()),
            None => (&KNOWN.unknown, canonical.clone()),
        };
        let is_long = wants_long && figures.context_window < LONG_CONTEXT.1;
        Self {
            id: if is_long { format!("{canonical}{}", LONG_CONTEXT.0) } else { canonical.clone() },
            canonical,
            display_name,
            prices: figures.prices,
            context_window: if is_long { LONG_CONTEXT.1 } else { figures.context_window },
            max_output: figures.max_output,
            thinking: figures.thinking,
            effort: figures.effort.clone(),
            is_known: row.is_some(),
        }
    }

    /// Every alias with the model it stands for, as hosts are told.
    pub fn aliases() -> impl Iterator<Item = (&'static str, ModelInfo)> {
        KNOWN.aliases.keys().map(|alias| (alias.as_str(), Self::of(alias)))
    }
}

/// What a search costs that the API runs.
pub(crate) fn web_search_price() -> Price {
    KNOWN.web_search_usd
}

fn resolve_alias(name: &str, environment: impl Fn(&str) -> Option<String>) -> String {
    let variable = match name {
        "opus" => Some("ANTHROPIC_DEFAULT_OPUS_MODEL"),
        "sonnet" | "opusplan" => Some("ANTHROPIC_DEFAULT_SONNET_MODEL"),
        "haiku" => Some("ANTHROPIC_DEFAULT_HAIKU_MODEL"),
        "default" => Some("ANTHROPIC_MODEL"),
        _ => None,
    };
    if let Some(chosen) = variable.and_then(environment).filter(|chosen| !chosen.is_empty() && chosen != name)
    {
        // One step only: a variable that names another alias means what that alias means by itself.
        return meaning(&chosen);
    }
    meaning(name)
}

fn meaning(alias: &str) -> String {
    KNOWN.aliases.get(alias).cloned().unwrap_or_else(|| alias.to_owned())
}

#[derive(Debug, Default, Deserialize)]
struct Known {
    web_search_usd: Price,
    unknown: Figures,
    aliases: BTreeMap<String, String>,
    #[serde(rename = "model")]
    models: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    id: String,
    name: String,
    #[serde(flatten)]
    figures: Figures,
}

#[derive(Debug, Default, Deserialize)]
struct Figures {
    #[serde(deserialize_with = "five_prices")]
    prices: Prices,
    context_window: u64,
    max_output: u64,
    thinking: ThinkingStyle,
    effort: Option<String>,
}

impl Row {
    fn is_for(&self, model: &str) -> bool {
        model
            .strip_prefix(self.id.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '@']))
    }
}

fn five_prices<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Prices, D::Error> {
    let [input, output, cache_read, cache_write_5m, cache_write_1h] =
        <[Price; 5]>::deserialize(deserializer)?;
    Ok(Prices { input, output, cache_read, cache_write_5m, cache_write_1h })
}
