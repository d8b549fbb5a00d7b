//! What the agent's own commands ask of the model, in our words.

const INIT: &str = "Look through this project and write a CLAUDE.md in its root, for agents that will work here later. Say how to \
     build, test and run it, with the commands as they are typed, one test alone included. Then say how the parts fit \
     together, as far as that takes several files to see. Take over what README files and rules of other tools say. Leave \
     out what anybody would do anyway and what a look at the files shows. If there is a CLAUDE.md, improve it.";

const DOCTOR: &str = "Check how this agent is set up here and report what is wrong. Look at the settings files of the user and of \
     the project (JSON that does not parse, rules that match nothing, hooks whose programs are missing), at the commands, \
     skills and agents (front matter that cannot be read, names that hide each other), and at the MCP servers (programs \
     that do not start). Change nothing. End with the problems in order of weight and what to do about each.";

const REVIEW: &str = "Review the changes in this working tree: the staged and unstaged ones, or what the argument names (a branch, a \
     commit range, a path). Read the changed code and what it touches. Report only what is wrong or will go wrong: \
     behaviour that breaks, cases that are missed, races, leaks, errors that are swallowed; then what could be simpler. \
     For each, name the file and line, say in a sentence how it fails, and how sure you are. Say so if you find nothing. \
     Change nothing.";

const SECURITY: &str = "Review the changes on this branch for security. Read the changed code and follow what comes from outside \
     (requests, files, environment, other processes) to where it is used: commands, queries, paths, templates, \
     deserialisation, crypto, secrets, permissions. Report only what an attacker could use, with file and line, the way \
     it would be used, the harm, and the smallest change that prevents it. Leave out style, and what needs an attacker \
     who already has everything. Change nothing.";

/// The prompt of a command, with what followed it.
pub(super) fn of(name: &str, arguments: &str) -> String {
    let prompt = match name {
        "init" => INIT,
        "doctor" => DOCTOR,
        "security-review" => SECURITY,
        _ => REVIEW,
    };
    match arguments {
        "" => prompt.to_owned(),
        arguments => format!("{prompt}\n\nThe user adds: {arguments}"),
    }
}
