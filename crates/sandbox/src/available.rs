//! What this kernel offers, and what one may use of it.

use std::fmt;
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

    /// Reads the exit code of a helper that was started without a program; none for any other code.
    pub fn read(code: i32) -> Option<Self> {
        let bits = u8::try_from(code).ok().filter(|code| code & !LAYERS == TOLD).map(|code| code & LAYERS)?;
        Some(Self { layers: Layer::ALL.into_iter().filter(|layer| bits & bit(*layer) != 0).collect() })
    }
}

/// The exit code of a helper that tells what there is: this, and a bit for each layer.
const TOLD: u8 = 0b100_0000;
const LAYERS: u8 = 0b111;

fn bit(layer: Layer) -> u8 {
    match layer {
        Layer::Namespaces => 1,
        Layer::Landlock => 2,
        Layer::Seccomp => 4,
    }
}

impl fmt::Display for Available {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.layers.iter().map(ToString::to_string).collect();
        if names.is_empty() { f.write_str("nothing") } else { f.write_str(&names.join(", ")) }
    }
}

/// Tries each layer in this process, one after the other; the exit code tells those that work.
pub(crate) fn tell(policy: &Policy) -> ExitCode {
    // From the weakest to the strongest: a layer must not stand in the way of the next one.
    let tries = [
        (
            Layer::Namespaces,
            Policy { hide: vec!["/nonexistent".into()], no_network: true, ..Policy::default() },
        ),
        (Layer::Landlock, Policy { writable: Some(Vec::new()), ..Policy::default() }),
        (Layer::Seccomp, Policy { filter: true, ..Policy::default() }),
    ];
    let mut code = TOLD;
    for (layer, mut tried) in tries {
        tried.without = policy.without.clone();
        if enter(&mut tried).is_ok() {
            code |= bit(layer);
        }
    }
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_tells_the_layers() {
        let has = |code| Available::read(code).map(|found| found.layers);
        assert_eq!(has(0b100_0111), Some(Layer::ALL.to_vec()));
        assert_eq!(has(0b100_0010), Some(vec![Layer::Landlock]));
        assert_eq!(has(0b100_0000), Some(Vec::new()));
        for other in [0, 1, 7, 125, 137, 256 + 64, -1] {
            assert_eq!(has(other), None, "{other}");
        }
    }
}
