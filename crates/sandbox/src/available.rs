//! What this kernel offers, and what one may use of it.

use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::enter::enter;
use crate::policy::{Layer, Policy};

/// The layers that can be had here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Available {
    layers: Vec<Layer>,
}

impl Available {
    /// Whether a layer can be had.
    pub fn has(&self, layer: Layer) -> bool {
        self.layers.contains(&layer)
    }

    /// The layers that a policy needs and that cannot be had.
    pub fn lacks(&self, policy: &Policy) -> Vec<Layer> {
        policy.needs().into_iter().filter(|layer| !self.has(*layer)).collect()
    }

    /// Reads what the helper printed.
    pub fn read(printed: &str) -> Self {
        Self { layers: printed.split_whitespace().filter_map(Layer::named).collect() }
    }
}

impl fmt::Display for Available {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.layers.iter().map(ToString::to_string).collect();
        if names.is_empty() { f.write_str("nothing") } else { f.write_str(&names.join(", ")) }
    }
}

/// Tries each layer in this process, one after the other, and prints the names of those that work.
pub(crate) fn print(policy: &Policy) -> ExitCode {
    // From the weakest to the strongest: a layer must not stand in the way of the next one.
    let tries = [
        (
            Layer::Namespaces,
            Policy { hide: vec!["/nonexistent".into()], no_network: true, ..Policy::default() },
        ),
        (Layer::Landlock, Policy { writable: Some(Vec::new()), ..Policy::default() }),
        (Layer::Seccomp, Policy { filter: true, ..Policy::default() }),
    ];
    let mut out = String::new();
    for (layer, mut tried) in tries {
        tried.without = policy.without.clone();
        if enter(&mut tried).is_ok() {
            out = out + layer.name() + "\n";
        }
    }
    match io::stdout().write_all(out.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
