//! Finds, reads, layers and edits settings files, remembering where each value came from.
