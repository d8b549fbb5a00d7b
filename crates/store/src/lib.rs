//! Session transcripts on disk: list, read back, fork, rename, tag.
