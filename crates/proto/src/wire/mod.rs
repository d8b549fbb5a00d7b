//! The machinery every wire type is made of: records, open unions, open string enums, three-state fields.
//!
//! Real CLIs put the tag of most objects first, and then everything is read in one pass over the line. A tag that comes
//! late is looked for, and then the object is read from its beginning.

mod extra;
mod ids;
mod json;
mod keys;
mod late;
mod lazy;
mod names;
mod once;
mod open_enum;
mod opt;
mod raw;
mod reading;
mod record;
mod short;
mod slot;
mod union;

pub use extra::Extra;
pub use ids::{AgentId, RequestId, SessionId, TaskId, ToolUseId, Uuid};
pub use json::read;
pub use lazy::{Lazy, Readable};
pub use once::Wire;
pub use opt::Opt;
pub use raw::Raw;
pub use union::Unknown;

pub(crate) use keys::Key;
pub(crate) use late::{First, first_key, from_late_tag};
pub(crate) use names::{Found, Names, slots_for, spread};
pub(crate) use once::put;
pub(crate) use open_enum::open_enum;
pub(crate) use reading::{Reading, bare_message};
pub(crate) use record::{Fields, FieldsVisitor, describe_record, record, wire_name};
pub(crate) use slot::{Blank, FieldSchema, ListedField, Probe, ProbedField, Slot};
pub(crate) use union::{Tagged, count_unknown, describe_union, read_unknown, union};
