use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::template;

/// Something that goes wrong between the agent and its host. It is declared here; the agent does it where it writes its
/// frames.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// When: `start`, or the kind of frame that the agent is about to write, such as `result`, `system/init`,
    /// `control_response`, `control_request/can_use_tool` or `any`.
    pub on: String,
    /// At which frame of that kind; the first if not given, 0 means at each of them.
    #[serde(default = "first")]
    pub nth: u64,
    /// Where, seen from that frame.
    #[serde(default)]
    pub place: Place,
    /// What happens.
    #[serde(rename = "do")]
    pub action: FaultAction,
    /// For `exit`: the exit code.
    pub code: Option<u8>,
    /// For `stall`, `delay` and `split`: how long, in milliseconds. A stall without it never ends.
    pub ms: Option<u64>,
    /// For `write`: the text, as it is. For `stderr` and `exit`: what goes to stderr.
    pub text: Option<String>,
    /// For `frame`: the frame. In it `{{n}}` counts, `{{request_id}}` is the id of the last control request that the agent
    /// sent, `{{session_id}}` the session, `{{uuid}}` a new id, and `{{padding}}` as much text as `bytes` asks for.
    pub frame: Option<Map<String, Value>>,
    /// For `frame` and `write`: how often; once if not given.
    pub count: Option<u64>,
    /// For `frame`: pads each line to this size. For `stderr`: how many bytes.
    pub bytes: Option<u64>,
}

/// Where a fault happens, seen from the frame it waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// Before the frame is written.
    #[default]
    Before,
    /// After it.
    After,
    /// In its place.
    Instead,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultAction {
    /// Nothing more is written, for a time or for ever.
    Stall,
    /// The process ends at once.
    Exit,
    /// Bytes are written that may be no frame, with no line end of their own.
    Write,
    /// A frame is written, known to the protocol or not.
    Frame,
    /// The frame is written once more.
    Repeat,
    /// The frame is not written; the same as `place = "instead"` with nothing.
    Drop,
    /// The frame is held back while later ones pass it.
    Delay,
    /// The frame is written in pieces that cut characters in half, with a pause between them.
    Split,
    /// The agent takes back the last request that it sent to the host, and goes on without an answer.
    Withdraw,
    /// Text goes to stderr.
    Stderr,
    /// SIGTERM is ignored from now on.
    IgnoreSigterm,
    /// The end of input is ignored from now on.
    IgnoreEof,
    /// A process is left behind that ignores SIGTERM and holds the agent's output open.
    Grandchild,
}

impl Fault {
    /// Whether it happens when the agent starts, before any frame.
    pub fn is_at_start(&self) -> bool {
        self.on == "start"
    }

    /// Whether it waits for a frame of this type and subtype.
    pub fn waits_for(&self, kind: &str, subtype: Option<&str>) -> bool {
        match self.on.split_once('/') {
            Some((on, sub)) => on == kind && Some(sub) == subtype,
            None => self.on == "any" || self.on == kind,
        }
    }

    /// The frame to write, with its `{{names}}` filled in.
    pub fn filled_frame(&self, lookup: &dyn Fn(&str) -> Option<String>) -> Option<Map<String, Value>> {
        self.frame.as_ref().map(|frame| template::fill_map(frame, lookup))
    }
}

fn first() -> u64 {
    1
}
