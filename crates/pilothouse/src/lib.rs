//! Drive Claude Code from Rust: launch, handshake, turns, approvals, hooks, tools.
