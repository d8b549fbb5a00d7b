//! Ways to hang, leak or lose: each on both kinds of runtime, each against the clock, and afterwards no process is left.

mod callbacks;
mod endings;
mod faults;
mod readers;
mod requests;
mod stage;

/// Makes a test of each way for each kind of runtime.
macro_rules! ways {
    ($($way:ident),* $(,)?) => {
        mod current_thread {
            $(#[test]
            fn $way() {
                $crate::ways::stage::play($crate::ways::stage::current_thread(), super::$way);
            })*
        }

        mod multi_thread {
            $(#[test]
            fn $way() {
                $crate::ways::stage::play($crate::ways::stage::multi_thread(), super::$way);
            })*
        }
    };
}
use ways;
