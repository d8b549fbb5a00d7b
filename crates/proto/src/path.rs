/// Whether an error is about a value or about the object around it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// The value that ends, or is about to begin, at the offset.
    Value,
    /// The object that the offset is in: it lacks something.
    Container,
}

/// The path of the place in a JSON text after `offset` bytes, such as `message.content[2].text`.
///
/// Finding it in the text costs nothing on the good path, and no second copy of every reader in the program.
pub(crate) fn path_at(text: &str, offset: usize, about: About) -> String {
    let bytes = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    let mut levels: Vec<Level<'_>> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' => levels.push(Level::Object(None)),
            b'[' => levels.push(Level::Array(0)),
            b'}' | b']' => {
                levels.pop();
            }
            b',' => match levels.last_mut() {
                Some(Level::Object(key)) => *key = None,
                Some(Level::Array(index)) => *index += 1,
                None => {}
            },
            b'"' => {
                let end = string_end(bytes, at + 1);
                if let Some(Level::Object(key @ None)) = levels.last_mut() {
                    *key = text.get(at + 1..end);
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    if about == About::Container {
        levels.pop();
    }
    let mut path = String::new();
    for level in &levels {
        match level {
            Level::Object(Some(key)) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            Level::Object(None) => {}
            Level::Array(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

enum Level<'a> {
    /// The key whose value is being read.
    Object(Option<&'a str>),
    /// The item that is being read.
    Array(usize),
}

/// Where the closing quote of a string is, or where the text ends.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    bytes.len()
}
