//! Removing the root of the disk, what lies directly in it, or a working directory itself: asked about whatever rules
//! and modes say, because no rule that allows `rm` was written with that in mind.

use crate::{
    context::Context,
    paths::{self, base_name},
    shell::{
        Shell,
        deep::{DeepCommand, Route},
    },
};

/// The first such path that a command would remove.
pub(crate) fn of_a_root(shell: &Shell, context: &Context) -> Option<String> {
    let direct = shell.deep.commands.iter().filter(|part| part.route == Route::Direct);
    direct.filter(|part| removes(part)).find_map(|part| {
        let operands = part.words.iter().skip(1).filter(|word| !word.text.starts_with('-') && !word.dynamic);
        operands.map(|word| paths::absolute(&word.text, &context.cwd)).find(|path| is_a_root(path, context))
    })
}

fn removes(part: &DeepCommand) -> bool {
    part.words.first().is_some_and(|word| matches!(base_name(&word.text), "rm" | "rmdir"))
}

fn is_a_root(path: &str, context: &Context) -> bool {
    paths::parent(path) == "/" || context.is_root(path)
}
