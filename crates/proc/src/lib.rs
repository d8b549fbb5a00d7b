//! Starts a child in its own process group, hands over its pipes, ends it by one bounded ladder.
