//! What a host says: text, pictures, and how the message is to be queued.

use std::hash::{BuildHasher as _, RandomState};

use pilothouse_proto::{
    Base64Source, Content, ContentBlock, HostFrame, ImageBlock, MessageOrigin, Opt, Priority, Source, User,
    Uuid,
};

/// A user message. Text becomes one by itself.
///
/// ```
/// use pilothouse::{Prompt, Priority};
///
/// let plain: Prompt = "What changed since yesterday?".into();
/// let urgent = Prompt::new("Stop, look at this first.").image("image/png", "iVBORw0KGgo=").priority(Priority::Now);
/// assert_ne!(plain.uuid(), urgent.uuid());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Prompt {
    /// On the heap from the beginning, because a frame has it there.
    user: Box<User>,
}

impl Prompt {
    /// A message with this text or these blocks.
    pub fn new(content: impl Into<Content>) -> Self {
        let mut user = Box::new(User::prompt(content));
        user.uuid = Opt::Some(fresh_uuid());
        Self { user }
    }

    /// Adds a picture: its media type and its bytes in base64.
    pub fn image(self, media_type: impl Into<String>, base64: impl Into<String>) -> Self {
        let source =
            Base64Source { media_type: media_type.into(), data: base64.into(), ..Base64Source::default() };
        self.block(ContentBlock::Image(ImageBlock {
            source: Source::Base64(source),
            cache_control: Opt::Absent,
            extra: pilothouse_proto::Extra::new(),
        }))
    }

    /// Adds a block of any kind.
    pub fn block(mut self, block: ContentBlock) -> Self {
        let mut blocks = match std::mem::take(&mut self.user.message.content) {
            Content::Blocks(blocks) => blocks,
            Content::Text(text) if text.is_empty() => Vec::new(),
            Content::Text(text) => vec![ContentBlock::text(text)],
        };
        blocks.push(block);
        self.user.message.content = Content::Blocks(blocks);
        self
    }

    /// Where the message goes in the queue. `Now` ends the running turn.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.user.priority = Opt::Some(priority);
        self
    }

    /// Delivers the text word for word: no `@path` expansion, no slash commands.
    pub fn verbatim(mut self) -> Self {
        self.user.client_composed = Opt::Some(true);
        self
    }

    /// Says who the message comes from.
    pub fn origin(mut self, origin: MessageOrigin) -> Self {
        self.user.origin = Opt::Some(origin);
        self
    }

    /// Names the message yourself. A CLI runs a message of the same name only once.
    pub fn with_uuid(mut self, uuid: impl Into<String>) -> Self {
        self.user.uuid = Opt::Some(uuid.into().into());
        self
    }

    /// The name of the message, by which it can be cancelled or rewound to.
    pub fn uuid(&self) -> &str {
        self.user.uuid.as_ref().map(Uuid::as_str).unwrap_or_default()
    }

    /// The frame that is written.
    pub(crate) fn into_frame(mut self, verbatim: bool, starts_a_turn: bool) -> HostFrame {
        if verbatim {
            self.user.client_composed = Opt::Some(true);
        }
        if !starts_a_turn {
            self.user.should_query = Opt::Some(false);
        }
        HostFrame::User(self.user)
    }
}

/// Names a message. As random as the keys of a hash map are, which costs no call to the system for each.
fn fresh_uuid() -> Uuid {
    let keys = RandomState::new();
    let random = [keys.hash_one(0_u8).to_ne_bytes(), keys.hash_one(1_u8).to_ne_bytes()];
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(random.as_flattened()).for_each(|(byte, random)| *byte = *random);
    let uuid = uuid::Builder::from_random_bytes(bytes).into_uuid();
    Uuid::from(&*uuid.hyphenated().encode_lower(&mut uuid::Uuid::encode_buffer()))
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&String> for Prompt {
    fn from(text: &String) -> Self {
        Self::new(text.as_str())
    }
}

impl From<Vec<ContentBlock>> for Prompt {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::new(blocks)
    }
}
