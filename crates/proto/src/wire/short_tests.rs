use std::collections::HashSet;

use super::{IN_PLACE, Short};
use crate::{RequestId, Uuid, decode};

#[test]
fn a_text_of_any_length_stays_what_it_is() {
    for length in [0, 1, 36, IN_PLACE, IN_PLACE + 1, 1000] {
        let text = "ä".repeat(length / 2) + &"x".repeat(length % 2);
        assert_eq!(text.len(), length);
        let (from_str, from_string) = (Short::from(text.as_str()), Short::from(text.clone()));
        assert_eq!(matches!(from_str, Short::Long(_)), length > IN_PLACE, "{length}");
        assert_eq!(from_str, from_string);
        assert_eq!(from_str.as_str(), text);
        assert_eq!(format!("{from_str:?}"), format!("{text:?}"));
        assert_eq!(from_string.into_string(), text);
    }
}

#[test]
fn ids_are_found_by_their_text_and_ordered_like_it() {
    let known: HashSet<RequestId> = ["a", "b"].map(RequestId::from).into();
    assert!(known.contains("a") && !known.contains("c"));
    let (short, long) = (Uuid::from("b"), Uuid::from("a".repeat(100)));
    assert!(long < short);
}

#[test]
fn an_id_is_read_with_its_escapes() {
    let ids: Vec<Uuid> = decode(br#"["plain","\u0041\n"]"#).unwrap();
    assert_eq!(ids, [Uuid::from("plain"), Uuid::from("A\n")]);
    assert_eq!(serde_json::to_string(&ids).unwrap(), r#"["plain","A\n"]"#);
    assert!(decode::<Vec<Uuid>>(b"[7]").is_err());
}
