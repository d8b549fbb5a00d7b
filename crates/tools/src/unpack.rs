//! Unpacks what a server packed, no further than is read of any page: a few bytes can stand for gigabytes.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// How a body is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Deflate,
}

impl Packing {
    /// By its name in a header.
    ///
    /// # Errors
    /// The name, when nobody here knows it.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        match name.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::None),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "deflate" => Ok(Self::Deflate),
            other => Err(other.chars().take(40).collect()),
        }
    }
}

/// What was in it, or the first part of that.
#[derive(Debug)]
pub(crate) struct Unpacked {
    pub(crate) bytes: Vec<u8>,
    /// Whether there was more.
    pub(crate) cut: bool,
}

/// Unpacks at most so many bytes. A body whose end is missing gives what is there.
///
/// # Errors
/// It is not packed in that way.
pub(crate) fn unpack(packing: Packing, packed: &[u8], most: usize) -> io::Result<Unpacked> {
    match packing {
        Packing::None => read(packed, most),
        Packing::Gzip => read(MultiGzDecoder::new(packed), most),
        // Servers disagree on what the name means: with a header, as it is written, or without one.
        Packing::Deflate => {
            read(ZlibDecoder::new(packed), most).or_else(|_| read(DeflateDecoder::new(packed), most))
        }
    }
}

fn read(from: impl Read, most: usize) -> io::Result<Unpacked> {
    let mut bytes = Vec::new();
    let read = from.take(most as u64 + 1).read_to_end(&mut bytes);
    let cut = bytes.len() > most;
    bytes.truncate(most);
    match read {
        Err(error) if bytes.is_empty() => Err(error),
        read => Ok(Unpacked { bytes, cut: cut || read.is_err() }),
    }
}
