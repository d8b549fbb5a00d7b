//! Connections over memory with scripted peers, and over real pipes with children that misbehave.
#![cfg(test)]

mod bursts;
mod callbacks;
mod child;
mod control;
mod events;
mod peer;
mod stdio;
mod tape;
