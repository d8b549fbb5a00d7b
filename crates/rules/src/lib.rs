//! Pure permission engine: rules, shell commands, modes, and a decision with its reason.
