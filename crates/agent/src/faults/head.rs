use serde::Deserialize;

/// What a fault wants to know about a line: its kind, and the ids that templates use.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Head {
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    subtype: Option<String>,
    #[serde(default)]
    request: Option<Inner>,
    #[serde(default)]
    response: Option<Inner>,
    #[serde(default)]
    pub(super) request_id: Option<String>,
    #[serde(default)]
    pub(super) session_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Inner {
    #[serde(default)]
    subtype: Option<String>,
}

impl Head {
    /// A line that cannot be read has no kind.
    pub(super) fn of(line: &[u8]) -> Self {
        serde_json::from_slice(line).unwrap_or_default()
    }

    /// The subtype of the frame; for requests and replies, of what is in them.
    pub(super) fn subtype(&self) -> Option<&str> {
        let inner = self.request.as_ref().or(self.response.as_ref());
        self.subtype.as_deref().or_else(|| inner?.subtype.as_deref())
    }
}
