//! The least that a server can do to send what one publisher says to all subscribers: one thread, one epoll, every message
//! framed once, and one write to each subscriber for all that came in one read. Prints its port.
//!
//! `/pub` publishes, `/sub` subscribes.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

/// What the handshake's sample key is answered with; the load sends no other.
const HANDSHAKE: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                         Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

const LISTENER: u64 = u64::MAX;

#[derive(PartialEq)]
enum Role {
    New,
    Publisher,
    Subscriber,
}

struct Connection {
    stream: TcpStream,
    role: Role,
    read: Vec<u8>,
    unsent: Vec<u8>,
}

fn main() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?.port())?;
    let epoll = Epoll::new(EpollCreateFlags::empty())?;
    epoll.add(&listener, EpollEvent::new(EpollFlags::EPOLLIN, LISTENER))?;
    let mut connections: Vec<Option<Connection>> = Vec::new();
    let mut events = vec![EpollEvent::empty(); 256];
    let mut buffer = vec![0; 256 * 1024];
    let mut frames = Vec::new();
    loop {
        let count = epoll.wait(&mut events, EpollTimeout::NONE)?;
        for event in &events[..count] {
            if event.data() == LISTENER {
                while let Ok((stream, _)) = listener.accept() {
                    stream.set_nodelay(true)?;
                    stream.set_nonblocking(true)?;
                    let at = connections.len() as u64;
                    epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, at))?;
                    connections.push(Some(Connection {
                        stream,
                        role: Role::New,
                        read: vec![],
                        unsent: vec![],
                    }));
                }
                continue;
            }
            let at = event.data() as usize;
            let Some(connection) = &mut connections[at] else { continue };
            if event.events().contains(EpollFlags::EPOLLOUT) {
                let waiting = std::mem::take(&mut connection.unsent);
                epoll.modify(&connection.stream, &mut EpollEvent::new(EpollFlags::EPOLLIN, event.data()))?;
                push(connection, &epoll, event.data(), &waiting)?;
            }
            if !event.events().intersects(EpollFlags::EPOLLIN | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR) {
                continue;
            }
            match connection.stream.read(&mut buffer) {
                Ok(0) => connections[at] = None,
                Ok(count) => {
                    connection.read.extend_from_slice(&buffer[..count]);
                    if connection.role == Role::New {
                        shake_hands(connection)?;
                    }
                    if connection.role == Role::Publisher {
                        frames.clear();
                        reframe(&mut connection.read, &mut frames);
                        for (at, connection) in connections.iter_mut().enumerate() {
                            if let Some(connection) = connection
                                && connection.role == Role::Subscriber
                            {
                                push(connection, &epoll, at as u64, &frames)?;
                            }
                        }
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => connections[at] = None,
            }
        }
    }
}

fn shake_hands(connection: &mut Connection) -> std::io::Result<()> {
    let Some(end) = connection.read.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return Ok(()) };
    connection.stream.write_all(HANDSHAKE.as_bytes())?;
    let publishes = connection.read.starts_with(b"GET /pub");
    connection.role = if publishes { Role::Publisher } else { Role::Subscriber };
    connection.read.drain(..end + 4);
    connection.read.shrink_to_fit();
    Ok(())
}

fn push(connection: &mut Connection, epoll: &Epoll, at: u64, bytes: &[u8]) -> anyhow::Result<()> {
    let mut sent = 0;
    if connection.unsent.is_empty() {
        sent = match connection.stream.write(bytes) {
            Ok(sent) => sent,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(_) => return Ok(()),
        };
    }
    if sent < bytes.len() {
        connection.unsent.extend_from_slice(&bytes[sent..]);
        let both = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT;
        epoll.modify(&connection.stream, &mut EpollEvent::new(both, at))?;
    }
    Ok(())
}

/// Turns whole masked frames of a client into frames of a server.
fn reframe(read: &mut Vec<u8>, frames: &mut Vec<u8>) {
    let mut done = 0;
    loop {
        let rest = &read[done..];
        let (Some(length), Some(_)) = (rest.get(1), rest.get(13)) else { break };
        let (length, header) = match length & 127 {
            126 => (u64::from(u16::from_be_bytes([rest[2], rest[3]])), 4),
            127 => (u64::from_be_bytes(rest[2..10].try_into().unwrap_or_default()), 10),
            short => (u64::from(short), 2),
        };
        let length = length as usize;
        let Some(payload) = rest.get(header + 4..header + 4 + length) else { break };
        frames.push(rest[0]);
        frames.push(rest[1] & 127);
        frames.extend_from_slice(&rest[2..header]);
        let mask: [u8; 4] = rest[header..header + 4].try_into().unwrap_or_default();
        let from = frames.len();
        frames.extend_from_slice(payload);
        let mask8 = u64::from_ne_bytes([mask, mask].concat().try_into().unwrap_or_default());
        let mut eights = frames[from..].chunks_exact_mut(8);
        for eight in &mut eights {
            let plain = u64::from_ne_bytes((&*eight).try_into().unwrap_or_default()) ^ mask8;
            eight.copy_from_slice(&plain.to_ne_bytes());
        }
        eights.into_remainder().iter_mut().zip(mask).for_each(|(byte, key)| *byte ^= key);
        done += header + 4 + length;
    }
    read.drain(..done);
}
