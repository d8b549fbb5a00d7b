//! Flags of the real command line that make no sense without a terminal, a browser or the vendor's services.

use pilothouse_proto::launch::Flag;

/// Why a flag is not taken; `None` for those that are.
pub(super) fn reason(flag: Flag) -> Option<&'static str> {
    Some(match flag {
        Flag::AwaitClaim => "sessions are started when they are needed, never in advance",
        Flag::AxScreenReader | Flag::Tmux => "there is no terminal interface",
        Flag::Background => "an agent runs as long as its host; start it in the background yourself",
        Flag::Channels => "there are no messaging channels",
        Flag::Chrome => "there is no browser integration",
        Flag::Cloud | Flag::Environment | Flag::Remote | Flag::Teleport => {
            "sessions run on this machine only"
        }
        Flag::Desktop => "there is no desktop program",
        Flag::File => "files are not fetched from the vendor's file service; name a local path in the prompt",
        Flag::FromPr => "sessions are not linked to pull requests; use --resume with a session id",
        Flag::Ide => "there is no editor integration",
        Flag::PluginUrl => "plugins are not fetched; use --plugin-dir",
        Flag::RemoteControl | Flag::RemoteControlSessionNamePrefix => {
            "sessions are controlled by their host only"
        }
        Flag::SdkUrl => "the protocol is spoken over stdin and stdout only",
        Flag::Worktree => "worktrees are not made; start the agent inside one",
        _ => return None,
    })
}
