//! The whole agent inside this process: a host at one end of a memory transport, a scripted Messages API at the other.
#![cfg(test)]

mod compaction;
mod rig;
mod turns;
