//! All subscribers, on one epoll.

use std::io::{ErrorKind, Read as _};
use std::net::TcpStream;

use anyhow::bail;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use serde_json::{Value, json};

use crate::process::now;
use crate::server::{Publisher, Server};
use crate::socket::Frames;

/// How long nothing may come before something was lost, in milliseconds.
const PATIENCE: u16 = 30_000;

const DELTA: &[u8] = b"{\"type\":\"stream_delta\"";

pub(crate) struct Subscribers {
    epoll: Epoll,
    all: Vec<(TcpStream, Frames)>,
    /// How many deltas came since `forget`.
    got: u64,
    /// How late each was, in nanoseconds.
    pub(crate) latencies: Vec<u64>,
}

impl Subscribers {
    pub(crate) fn none() -> anyhow::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::empty())?;
        Ok(Self { epoll, all: Vec::new(), got: 0, latencies: Vec::new() })
    }

    pub(crate) fn new(server: &Server, publisher: &Publisher, count: u64) -> anyhow::Result<Self> {
        let mut this = Self::none()?;
        for _ in 0..count {
            this.add(server, publisher)?;
        }
        Ok(this)
    }

    pub(crate) fn add(&mut self, server: &Server, publisher: &Publisher) -> anyhow::Result<()> {
        let stream = server.follow(publisher)?;
        stream.set_nonblocking(true)?;
        self.epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, self.all.len() as u64))?;
        self.all.push((stream, Frames::default()));
        Ok(())
    }

    pub(crate) fn count(&self) -> u64 {
        self.all.len() as u64
    }

    /// Counts from nothing again.
    pub(crate) fn forget(&mut self) {
        self.got = 0;
    }

    /// Reads until so many deltas came since `forget`, and starts counting again.
    pub(crate) fn read_until(&mut self, wanted: u64) -> anyhow::Result<()> {
        let mut events = vec![EpollEvent::empty(); 1024];
        let mut buffer = vec![0; 256 * 1024];
        while self.got < wanted {
            let count = self.epoll.wait(&mut events, EpollTimeout::from(PATIENCE))?;
            if count == 0 {
                bail!("{} of {wanted} messages came", self.got);
            }
            for event in &events[..count] {
                let (stream, frames) = &mut self.all[event.data() as usize];
                let count = match stream.read(&mut buffer) {
                    Ok(0) => bail!("the server closed a connection"),
                    Ok(count) => count,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                    Err(error) => return Err(error.into()),
                };
                let time = now();
                let (got, latencies) = (&mut self.got, &mut self.latencies);
                frames.feed(&buffer[..count], |payload| {
                    if payload.starts_with(DELTA) {
                        *got += 1;
                        latencies.extend(written_at(payload).map(|written| time.saturating_sub(written)));
                    }
                });
            }
        }
        self.got -= wanted;
        Ok(())
    }

    pub(crate) fn quantiles(&mut self) -> Value {
        self.latencies.sort_unstable();
        let at = |part: f64| {
            let place = (self.latencies.len().saturating_sub(1)) as f64 * part;
            self.latencies.get(place.round() as usize).map_or(0.0, |nanoseconds| *nanoseconds as f64 / 1e6)
        };
        json!({"p50_ms": at(0.5), "p99_ms": at(0.99)})
    }
}

/// When the delta was written, from its text.
fn written_at(payload: &[u8]) -> Option<u64> {
    let at = payload.iter().position(|byte| *byte == b'@')?;
    std::str::from_utf8(payload.get(at + 1..at + 21)?).ok()?.parse().ok()
}
