//! The commands an agent CLI brings along, and what becomes of them when a program drives it.

/// A command of the agent CLI itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// What to write after it.
    pub argument_hint: &'static str,
    /// What it does.
    pub description: &'static str,
    /// What happens when a program sends it.
    pub kind: BuiltinKind,
}

/// What happens when a program sends a built-in command as a user message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BuiltinKind {
    /// The CLI answers by itself; the model is not asked.
    Local,
    /// It becomes a prompt for the model.
    Prompt,
    /// The CLI says that it works only in a terminal.
    Unavailable,
    /// The CLI no longer knows it; the text goes to the model as it is.
    Gone,
}

use BuiltinKind::{Gone, Local, Prompt, Unavailable};

/// The built-in commands, by name, as observed on agent CLI 2.1.325. A command or skill of the same name hides them.
pub const BUILTINS: [Builtin; 59] = [
    builtin("add-dir", &[], "<path>", "Add a working directory", Unavailable),
    builtin("agents", &[], "", "Say how subagents are made", Local),
    builtin("autocompact", &[], "", "Say when the conversation is compacted by itself", Local),
    builtin("branch", &[], "[name]", "Go on in a copy of the conversation", Unavailable),
    builtin("btw", &[], "<question>", "Ask something aside", Unavailable),
    builtin("bug", &[], "", "Report a problem", Unavailable),
    builtin("clear", &["reset", "new"], "[name]", "Start over with an empty conversation", Local),
    builtin("color", &[], "[color]", "Choose the colour of the session", Local),
    builtin("compact", &[], "[instructions]", "Summarise the conversation to make room", Local),
    builtin("config", &["settings"], "key=value", "Change a setting", Local),
    builtin("context", &[], "", "Show what fills the context", Local),
    builtin("copy", &[], "", "Copy the last answer", Unavailable),
    builtin("diff", &[], "", "View uncommitted changes", Unavailable),
    builtin("doctor", &["checkup"], "", "Check the installation", Prompt),
    builtin("effort", &[], "<level>", "Say how hard the model is to try", Local),
    builtin("exit", &[], "", "End the program", Unavailable),
    builtin("export", &[], "[file]", "Export the conversation", Unavailable),
    builtin("fast", &[], "", "Switch fast mode", Local),
    builtin("feedback", &[], "", "Send feedback", Unavailable),
    builtin("focus", &[], "", "Show only the last answer", Local),
    builtin("fork", &[], "", "Go on in a copy of the conversation", Unavailable),
    builtin("goal", &[], "<condition>", "Go on until a condition is met", Local),
    builtin("help", &[], "", "List the commands", Unavailable),
    builtin("hooks", &[], "", "View hooks", Unavailable),
    builtin("ide", &[], "", "Connect to an editor", Unavailable),
    builtin("init", &[], "", "Write a CLAUDE.md for the project", Prompt),
    builtin("install-github-app", &[], "", "Set up the GitHub app", Unavailable),
    builtin("keybindings", &[], "", "Change key bindings", Unavailable),
    builtin("list-agents", &[], "", "List the subagents that are running", Local),
    builtin("login", &[], "", "Switch accounts", Unavailable),
    builtin("logout", &[], "", "Sign out", Unavailable),
    builtin("mcp", &[], "[reconnect|enable|disable [server|all]]", "Manage MCP servers", Local),
    builtin("memory", &[], "", "Edit CLAUDE.md", Unavailable),
    builtin("model", &[], "<model>", "Switch the model", Local),
    builtin("output-style", &[], "[style]", "Choose how answers are written", Local),
    builtin("permissions", &[], "", "View and change permission rules", Unavailable),
    builtin("plan", &[], "", "Switch to plan mode", Unavailable),
    builtin("pr-comments", &[], "", "Fetch the comments of a pull request", Gone),
    builtin("privacy-settings", &[], "", "View privacy settings", Unavailable),
    builtin("recap", &[], "", "Say in a few words what was done", Local),
    builtin("release-notes", &[], "", "Show the release notes", Unavailable),
    builtin("reload-plugins", &[], "", "Look for plugins again", Local),
    builtin("reload-skills", &[], "", "Look for skills again", Local),
    builtin("rename", &["name"], "[name]", "Rename the conversation", Local),
    builtin("resume", &[], "", "Resume another conversation", Unavailable),
    builtin("review", &["code-review"], "[target]", "Review the current changes", Prompt),
    builtin("rewind", &[], "", "Go back to an earlier point", Unavailable),
    builtin("sandbox", &[], "", "Set up the sandbox", Unavailable),
    builtin("security-review", &[], "", "Review the pending changes for security", Prompt),
    builtin("skills", &[], "", "List skills", Unavailable),
    builtin("status", &[], "", "Show version and connection", Unavailable),
    builtin("statusline", &[], "", "Set up the status line", Unavailable),
    builtin("tasks", &[], "", "View background tasks", Unavailable),
    builtin("terminal-setup", &[], "", "Set up key bindings", Unavailable),
    builtin("theme", &[], "", "Change the colours", Unavailable),
    builtin("upgrade", &[], "", "Change the subscription", Unavailable),
    builtin("usage", &["cost", "stats"], "", "Show cost and token usage", Local),
    builtin("usage-credits", &[], "", "Buy usage", Unavailable),
    builtin("vim", &[], "", "Edit prompts as in vim", Unavailable),
];

impl Builtin {
    /// Whether it answers to a name.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

const fn builtin(
    name: &'static str,
    aliases: &'static [&'static str],
    argument_hint: &'static str,
    description: &'static str,
    kind: BuiltinKind,
) -> Builtin {
    Builtin { name, aliases, argument_hint, description, kind }
}
