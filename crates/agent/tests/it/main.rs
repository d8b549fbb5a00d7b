//! The whole agent inside this process: a host at one end of a memory transport, a scripted Messages API at the other.
#![cfg(test)]

mod agents;
mod compaction;
mod control;
mod hooks;
mod launching;
mod mcp;
mod panics;
mod prompts;
mod resuming;
mod rig;
mod turns;
