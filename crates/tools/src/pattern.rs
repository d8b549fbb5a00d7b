//! Limits of the patterns that a model may search by: they are compiled in this process.

use crate::args::Args;

/// The longest regular expression, in bytes.
pub(crate) const LONGEST_REGEX: usize = 32 << 10;
/// The longest glob: braces nest, and the compiler calls itself for each level.
pub(crate) const LONGEST_GLOB: usize = 4 << 10;
/// The most memory of a compiled regular expression; the library's own limit is 100 MiB.
pub(crate) const REGEX_SIZE: usize = 4 << 20;
/// The most memory of its cache of states; the library's own limit is 1000 MiB.
pub(crate) const REGEX_CACHE: usize = 16 << 20;
const DEEPEST_GLOB: usize = 16;

/// Whether a regular expression is short enough to be compiled. Otherwise the call has a problem.
pub(crate) fn is_short_regex(args: &mut Args, name: &str, regex: &str) -> bool {
    let fits = regex.len() <= LONGEST_REGEX;
    if !fits {
        args.problem(too_long(name, LONGEST_REGEX));
    }
    fits
}

/// What is wrong with the size of a glob.
pub(crate) fn glob_problem(name: &str, glob: &str) -> Option<String> {
    if glob.len() > LONGEST_GLOB {
        return Some(too_long(name, LONGEST_GLOB));
    }
    let mut depth = 0_usize;
    for letter in glob.chars() {
        depth = match letter {
            '{' => depth + 1,
            '}' => depth.saturating_sub(1),
            _ => depth,
        };
        if depth > DEEPEST_GLOB {
            return Some(format!("the parameter `{name}` has more than {DEEPEST_GLOB} braces in each other"));
        }
    }
    None
}

fn too_long(name: &str, most: usize) -> String {
    format!("the parameter `{name}` is longer than {most} bytes: use a shorter pattern, or several calls")
}
