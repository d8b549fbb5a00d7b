use serde_json::{Number, Value};

use crate::tool::ArtifactRead;
use crate::wire::{Opt, Reading, ToolUseId, record};

record! {
    /// Fetches a page and asks about it.
    #[derive(Default)]
    pub struct WebFetchInput {
        /// The URL.
        url: String,
        /// The prompt.
        prompt: String,
        /// Where to start.
        offset: Opt<u64>,
    }

    /// The answer.
    pub struct WebFetchOutput {
        /// The size in bytes.
        bytes: u64,
        /// The HTTP status.
        code: u64,
        /// The same in words.
        code_text as "codeText": String,
        /// The result.
        result: String,
        /// How long it took.
        duration_ms as "durationMs": Number,
        /// The URL.
        url: String,
        /// The artifact that was read.
        artifact_read as "artifactRead": Opt<ArtifactRead>,
    }

    /// Searches the web.
    #[derive(Default)]
    pub struct WebSearchInput {
        /// What to look for.
        query: String,
        /// Only these sites.
        allowed_domains: Opt<Vec<String>>,
        /// None of these sites.
        blocked_domains: Opt<Vec<String>>,
    }

    /// What was found.
    pub struct WebSearchOutput {
        /// What to look for.
        query: String,
        /// The results.
        results: Vec<WebSearchHit>,
        /// How long it took.
        duration_seconds as "durationSeconds": Number,
        /// Searches.
        search_count as "searchCount": Opt<u64>,
    }

    /// Hits of one search.
    #[derive(Default)]
    pub struct WebSearchHits {
        /// The tool call.
        tool_use_id: ToolUseId,
        /// The content.
        content: Vec<WebSearchLink>,
    }

    /// One hit.
    #[derive(Default)]
    pub struct WebSearchLink {
        /// The title.
        title: String,
        /// The URL.
        url: String,
        /// A piece of the text.
        snippet: Opt<String>,
    }
}

/// A result of a web search: hits, or what the model says about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebSearchHit {
    /// Hits.
    Hits(WebSearchHits),
    /// Text.
    Text(String),
}

impl serde::Serialize for WebSearchHit {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Hits(hits) => hits.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
        }
    }
}

impl<'de> serde::Deserialize<'de> for WebSearchHit {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::Text(text)),
            hits => Reading::a_value(|| serde_json::from_value(hits))
                .map(Self::Hits)
                .map_err(serde::de::Error::custom),
        }
    }
}

impl schemars::JsonSchema for WebSearchHit {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WebSearchHit".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let hits = generator.subschema_for::<WebSearchHits>();
        schemars::json_schema!({ "anyOf": [hits, { "type": "string" }] })
    }
}
