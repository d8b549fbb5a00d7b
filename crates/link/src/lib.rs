//! One live connection: lines to frames, request and reply routing, cancel, shutdown.
