//! What is answered for a hook that failed.

use pilothouse_proto::hook::{
    HookDecision, HookPermissionDecision, HookSpecificOutput, PermissionRequestDecision,
    PermissionRequestOutput, PreModelSwitchOutput, PreToolUseOutput,
};
use pilothouse_proto::{HookEvent, HookOutput, Opt, PermissionDeny};

const REASON: &str = "The hook that decides about this failed or took too long, so it is blocked.";

/// Whether hooks of this event stand between the model and something that cannot be undone.
pub(super) fn guards(event: &HookEvent) -> bool {
    matches!(event, HookEvent::PreToolUse | HookEvent::PermissionRequest)
}

/// The output that blocks what the event is about, as far as the event can block anything.
pub(super) fn failure_output(event: &HookEvent) -> HookOutput {
    let specific = match event {
        HookEvent::PreToolUse => HookSpecificOutput::PreToolUse(PreToolUseOutput {
            permission_decision: Opt::Some(HookPermissionDecision::Deny),
            permission_decision_reason: Opt::Some(REASON.to_owned()),
            ..PreToolUseOutput::default()
        }),
        HookEvent::PreModelSwitch => HookSpecificOutput::PreModelSwitch(PreModelSwitchOutput {
            permission_decision: Opt::Some(HookPermissionDecision::Deny),
            permission_decision_reason: Opt::Some(REASON.to_owned()),
            ..PreModelSwitchOutput::default()
        }),
        HookEvent::PermissionRequest => HookSpecificOutput::PermissionRequest(PermissionRequestOutput {
            decision: PermissionRequestDecision::Deny(PermissionDeny {
                message: Opt::Some(REASON.to_owned()),
                ..PermissionDeny::default()
            }),
            extra: pilothouse_proto::Extra::new(),
        }),
        _ => {
            return HookOutput {
                decision: Opt::Some(HookDecision::Block),
                reason: Opt::Some(REASON.to_owned()),
                ..HookOutput::default()
            };
        }
    };
    HookOutput { hook_specific_output: Opt::Some(specific), ..HookOutput::default() }
}
