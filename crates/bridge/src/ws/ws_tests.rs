use hyper::header::{HeaderMap, HeaderValue};

use super::handshake::HandshakeError;
use super::reader::ReadError;
use super::*;

/// A client's frame: masked, with this first byte.
fn from_client(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [7, 99, 200, 1];
    let mut frame = vec![first];
    match payload.len() {
        short if short < 126 => frame.push(0x80 | u8::try_from(short).unwrap()),
        medium if medium < 65536 => {
            frame.push(0x80 | 126);
            frame.extend(u16::try_from(medium).unwrap().to_be_bytes());
        }
        long => {
            frame.push(0x80 | 127);
            frame.extend((long as u64).to_be_bytes());
        }
    }
    frame.extend(mask);
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    frame
}

fn read(bytes: &[u8], step: usize) -> Result<Vec<Incoming>, ReadError> {
    let mut reader = Reader::new(100_000);
    let mut read = Vec::new();
    for chunk in bytes.chunks(step) {
        reader.push(chunk);
        while let Some(incoming) = reader.next()? {
            read.push(incoming);
        }
    }
    Ok(read)
}

#[test]
fn messages_are_read_wherever_they_are_cut() {
    let long = "ä".repeat(40_000);
    // In the middle of a character.
    let (head, tail) = "naïve 🚢".as_bytes().split_at(3);
    let mut bytes = from_client(0x81, b"one");
    bytes.extend(from_client(0x01, head));
    bytes.extend(from_client(0x89, b"are you there"));
    bytes.extend(from_client(0x80, tail));
    bytes.extend(from_client(0x81, long.as_bytes()));
    bytes.extend(from_client(0x81, &[b'x'; 300]));
    bytes.extend(from_client(0x8a, b""));
    bytes.extend(from_client(0x88, b""));
    let expected = vec![
        Incoming::Text("one".to_owned()),
        Incoming::Ping(b"are you there".to_vec()),
        Incoming::Text("naïve 🚢".to_owned()),
        Incoming::Text(long),
        Incoming::Text("x".repeat(300)),
        Incoming::Pong,
        Incoming::Close,
    ];
    for step in [1, 2, 7, 1000, usize::MAX] {
        assert_eq!(read(&bytes, step.min(bytes.len())).unwrap(), expected, "in steps of {step}");
    }
}

#[test]
fn what_is_no_frame_is_refused_before_it_costs_anything() {
    let unmasked = vec![0x81, 0x02, b'h', b'i'];
    let huge = [&[0x81, 0xff][..], &u64::MAX.to_be_bytes()].concat();
    let too_big = [&[0x81, 0xff][..], &100_001_u64.to_be_bytes(), &[0; 4]].concat();
    let parts = [from_client(0x01, &[b'x'; 60_000]), from_client(0x80, &[b'x'; 60_000])].concat();
    let rows: Vec<(&str, Vec<u8>, CloseCode)> = vec![
        ("not masked", unmasked, CloseCode::Protocol),
        ("a reserved bit", from_client(0xc1, b"x"), CloseCode::Protocol),
        ("an unknown opcode", from_client(0x83, b"x"), CloseCode::Protocol),
        ("a continuation of nothing", from_client(0x80, b"x"), CloseCode::Protocol),
        (
            "a message in a message",
            [from_client(0x01, b"x"), from_client(0x81, b"y")].concat(),
            CloseCode::Protocol,
        ),
        ("a ping in parts", from_client(0x09, b"x"), CloseCode::Protocol),
        ("a long ping", from_client(0x89, &[0; 126]), CloseCode::Protocol),
        ("binary", from_client(0x82, b"x"), CloseCode::Unsupported),
        ("not UTF-8", from_client(0x81, &[0xff, 0xfe]), CloseCode::NotUtf8),
        ("a length beyond memory", huge, CloseCode::TooBig),
        ("only the header of a message that is too long", too_big, CloseCode::TooBig),
        ("parts that are too long together", parts, CloseCode::TooBig),
    ];
    for (name, bytes, code) in rows {
        assert_eq!(read(&bytes, bytes.len()).unwrap_err().close_code(), code, "{name}");
    }
}

#[test]
fn frames_to_clients_have_the_shortest_header() {
    for (length, header) in [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)] {
        assert_eq!(text_frame(&"x".repeat(length)).len(), length + header, "{length}");
    }
    assert_eq!(text_frame("hi").as_ref(), [0x81, 2, b'h', b'i']);
    assert_eq!(close_frame(CloseCode::Normal).as_ref(), [0x88, 2, 3, 232]);
    assert!(pong_frame(&[0; 500]).len() <= 127);
}

/// The example of RFC 6455.
#[test]
fn the_handshake_answers_the_key() {
    let request = |changes: &[(&'static str, &'static str)]| {
        let mut headers = HeaderMap::new();
        let usual = [
            ("upgrade", "WebSocket"),
            ("connection", "keep-alive, Upgrade"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        for (name, value) in usual.iter().chain(changes) {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        accept(&headers)
    };
    assert_eq!(request(&[]), Ok("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".to_owned()));
    assert_eq!(request(&[("upgrade", "h2c")]), Err(HandshakeError::NotAnUpgrade));
    assert_eq!(request(&[("connection", "close")]), Err(HandshakeError::NotAnUpgrade));
    assert_eq!(request(&[("sec-websocket-version", "8")]), Err(HandshakeError::Version));
    assert_eq!(request(&[("sec-websocket-key", "short")]), Err(HandshakeError::Key));
}
