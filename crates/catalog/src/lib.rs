//! Finds slash commands, skills and agents, and expands an invocation to a prompt.
