//! Scripted peers for both ends, tapes, and a scripted Messages API. For tests only.
