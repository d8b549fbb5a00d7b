//! Our SDK under measurement, through the API that the README shows, with default options.
//!
//! `decode-delta` and `decode-assist` decode lines from memory, without a child: `pilothouse-proto` alone.

mod decode;

#[tokio::main]
async fn main() {
    decode::run_if_asked();
}
