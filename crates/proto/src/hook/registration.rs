use serde_json::Number;

use crate::wire::{Opt, open_enum, record};

record! {
    /// Hooks for some of the calls of an event.
    #[derive(Default)]
    pub struct HookCallbackMatcher {
        /// Which calls, such as `Bash` or `Write|Edit`; absent means all.
        matcher: Opt<String>,
        /// The hooks, by ids the host chose.
        hook_callback_ids as "hookCallbackIds" or "hook_callback_ids": Vec<String>,
        /// How long the CLI waits, in seconds.
        timeout: Opt<Number>,
        /// What a failing hook means.
        on_failure as "onFailure": Opt<OnFailure>,
    }
}

open_enum! {
    /// What a failing hook means.
    pub enum OnFailure {
        Continue = "continue",
        Block = "block",
    }
}
