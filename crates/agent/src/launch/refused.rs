//! Flags and subcommands of the real command line that make no sense without a terminal, a browser or the vendor's services.

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

/// Why a subcommand of the real CLI is not there; `None` for words that are none.
pub(super) fn subcommand(word: &str) -> Option<&'static str> {
    Some(match word {
        "agents" | "attach" | "kill" | "logs" | "purge" | "respawn" | "rm" | "stop" => {
            "an agent runs as long as its host, and none is kept in the background"
        }
        "auth" | "setup-token" => "there are no accounts; set ANTHROPIC_API_KEY, and see `auth status`",
        "auto-mode" => "there is no safety check to set up; write permission rules",
        "doctor" => "it checks the real CLI; `pilothouse doctor` checks this program",
        "gateway" => "requests go to ANTHROPIC_BASE_URL without a gateway of our own",
        "import" | "install" | "update" | "upgrade" => "this program is installed by whoever built it",
        "mcp" => "servers are configured in .mcp.json, or named by --mcp-config",
        "plugin" | "plugins" => "plugins are not installed; name their folders by --plugin-dir",
        "ultrareview" => "it runs on the vendor's machines",
        _ => return None,
    })
}
