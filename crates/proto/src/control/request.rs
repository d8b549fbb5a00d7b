use serde::Serialize;
use serde::de::DeserializeOwned;

use super::CanUseTool;
use crate::permission::PermissionResult;
use crate::wire::{record, union};

/// A control request, bound to the type of its reply.
pub trait Request: Into<Self::Any> {
    /// The request's `subtype` on the wire.
    const SUBTYPE: &'static str;
    /// The union of all requests in this direction: [`HostRequest`] or [`AgentRequest`].
    type Any: Serialize;
    /// What a success reply holds.
    type Response: DeserializeOwned + Serialize;
}

/// Declares the union of requests in one direction, and for each its reply.
macro_rules! requests {
    (
        $(#[doc = $doc:literal])*
        pub enum $Any:ident {
            $( $(#[doc = $row_doc:literal])* $subtype:literal $(| $alias:literal)* => $Request:ident $(in $Box:ident)? -> $Response:ty ),* $(,)?
        }
    ) => {
        union! {
            $(#[doc = $doc])*
            pub enum $Any by "subtype" {
                $( $(#[doc = $row_doc])* $subtype $(| $alias)* => $Request(requests!(@held $Request $(in $Box)?)) ),*
            }
        }

        $(
            impl Request for $Request {
                const SUBTYPE: &'static str = $subtype;
                type Any = $Any;
                type Response = $Response;
            }

            impl From<$Request> for $Any {
                fn from(request: $Request) -> Self {
                    Self::$Request(request.into())
                }
            }
        )*
    };
    (@held $Request:ident) => { $Request };
    (@held $Request:ident in $Box:ident) => { $Box<$Request> };
}

requests! {
    /// What a host asks a CLI, told apart by `subtype`.
    pub enum HostRequest {
        /// Stops the running turn.
        "interrupt" => Interrupt -> InterruptResponse,
    }
}

requests! {
    /// What a CLI asks its host, told apart by `subtype`.
    pub enum AgentRequest {
        /// May this tool call run?
        "can_use_tool" | "permission" => CanUseTool in Box -> PermissionResult,
    }
}

record! {
    /// Stops the running turn.
    #[derive(Default)]
    pub struct Interrupt {
        /// Whether to drop the queued messages as well.
        cancel_queued: crate::Opt<bool>,
    }

    /// What an interrupt left behind. Old CLIs send neither list.
    #[derive(Default)]
    pub struct InterruptResponse {
        /// Messages that still wait, by uuid.
        still_queued: crate::Opt<Vec<String>>,
        /// Messages that were dropped, by uuid.
        cancelled: crate::Opt<Vec<String>>,
    }

    /// A reply that says no more than yes.
    #[derive(Default)]
    pub struct Ack {}
}
