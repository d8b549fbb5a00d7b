//! How stream-json looks: types, decode, encode, unknowns kept.
