//! Servers that are no Messages API: each is told from one within a known time and with a known amount of memory.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::io::{Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use pilothouse_model::{ApiConfig, Event, MessagesApi, Model as _, Request};
use pilothouse_proto::User;
use tokio_util::sync::CancellationToken;

/// What a server does with each connection after it has read the request.
type Habit = fn(&mut TcpStream) -> std::io::Result<()>;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const START: &[u8] = b"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\
    \"role\":\"assistant\",\"model\":\"x\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,\
    \"output_tokens\":1}}}\n\n";

const HABITS: &[(&str, Habit)] = &[
    ("no HTTP", |out| out.write_all(b"hello?\n")),
    ("no events", |out| out.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")),
    ("events that are no JSON", |out| {
        out.write_all(HEAD)?;
        out.write_all(b"event: message_start\ndata: {nope\n\n")
    }),
    ("half an event", |out| {
        out.write_all(HEAD)?;
        out.write_all(&START[..60])
    }),
    ("an end in the middle", |out| {
        out.write_all(HEAD)?;
        out.write_all(START)
    }),
    ("events out of order", |out| {
        out.write_all(HEAD)?;
        out.write_all(b"data: {\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n")
    }),
    ("an event without an end", |out| {
        out.write_all(HEAD)?;
        out.write_all(START)?;
        out.write_all(b"data: ")?;
        loop {
            out.write_all(&[b'x'; 64 << 10])?;
        }
    }),
    ("an event of endless lines", |out| {
        out.write_all(HEAD)?;
        loop {
            out.write_all(&b"data: x\n".repeat(8 << 10))?;
        }
    }),
    ("silence after the first event", |out| {
        out.write_all(HEAD)?;
        out.write_all(START)?;
        std::thread::sleep(Duration::from_secs(60));
        Ok(())
    }),
    ("silence", |_| {
        std::thread::sleep(Duration::from_secs(60));
        Ok(())
    }),
    ("headers without an end", |out| {
        out.write_all(b"HTTP/1.1 200 OK\r\n")?;
        loop {
            out.write_all(b"x-more: and more of it\r\n")?;
        }
    }),
];

fn serve(habit: Habit) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut request = [0; 64 << 10];
                let _ = connection.read(&mut request);
                // The client going away is what ends most of these.
                let _ = habit(&mut connection);
            });
        }
    });
    url
}

#[tokio::test]
async fn no_server_can_hang_a_turn_or_fill_the_memory() {
    let before = most_memory_kib();
    for (name, habit) in HABITS {
        let url = serve(*habit);
        let config = ApiConfig::from_env(|variable| {
            let value = match variable {
                "ANTHROPIC_BASE_URL" => url.as_str(),
                "ANTHROPIC_API_KEY" => "sk-test",
                "NO_PROXY" => "*",
                "CLAUDE_CODE_MAX_RETRIES" => "0",
                "API_TIMEOUT_MS" => "1500",
                _ => return None,
            };
            Some(value.to_owned())
        });
        let mut request = Request::new("opus");
        request.messages.push(User::prompt("go").message);
        let begun = Instant::now();
        let model = MessagesApi::new(config);
        let mut reply = model.stream(request, CancellationToken::new());
        let mut last = None;
        let all = async {
            while let Some(event) = reply.next().await {
                last = Some(event);
            }
        };
        let ended = tokio::time::timeout(Duration::from_secs(90), all).await;
        assert!(ended.is_ok(), "{name}: still going after {:?}", begun.elapsed());
        let Some(Event::Failed(failure)) = last else { panic!("{name}: {last:?}") };
        assert!(!failure.text.is_empty(), "{name}");
    }
    let grown = most_memory_kib().saturating_sub(before);
    assert!(grown < 300 << 10, "{grown} KiB more than before");
}

/// The most memory that this process has had.
fn most_memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a line");
    line.split_ascii_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}
