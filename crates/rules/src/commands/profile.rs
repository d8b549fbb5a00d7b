//! What well-known commands do with their arguments: which are files, which options turn reading into writing.

/// What a command's operands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// Plain text; no file is opened.
    Text,
    /// Files that are read.
    Files,
    /// A pattern, then files that are read.
    PatternThenFiles,
    /// Nothing at all: an operand would change something.
    Nothing,
    /// Only words that start with `+`.
    FormatOnly,
    /// Files that are created, changed or removed.
    WrittenFiles,
}

/// A command that only reads, or that only touches the files it names.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) name: &'static str,
    pub(crate) operands: Operands,
    /// Options that make it do something else. Long ones also count when shortened.
    pub(crate) refused: &'static [&'static str],
    /// Options whose value is the next word or the rest of this one.
    pub(crate) valued: &'static [&'static str],
    /// Options whose value is a file that is read.
    pub(crate) file_valued: &'static [&'static str],
    /// Options that make it read everything below a directory.
    pub(crate) recursive: &'static [&'static str],
}

const fn text(name: &'static str, refused: &'static [&'static str]) -> Profile {
    Profile { name, operands: Operands::Text, refused, valued: &[], file_valued: &[], recursive: &[] }
}

const fn files(
    name: &'static str,
    refused: &'static [&'static str],
    valued: &'static [&'static str],
) -> Profile {
    Profile { name, operands: Operands::Files, refused, valued, file_valued: &[], recursive: &[] }
}

const fn nothing(
    name: &'static str,
    refused: &'static [&'static str],
    valued: &'static [&'static str],
) -> Profile {
    Profile { name, operands: Operands::Nothing, refused, valued, file_valued: &[], recursive: &[] }
}

const fn search(
    name: &'static str,
    refused: &'static [&'static str],
    valued: &'static [&'static str],
) -> Profile {
    Profile {
        name,
        operands: Operands::PatternThenFiles,
        refused,
        valued,
        file_valued: &["-f", "--file", "--exclude-from", "--ignore-file"],
        recursive: &["-r", "-R", "--recursive", "--dereference-recursive"],
    }
}

const GREP_VALUED: &[&str] = &[
    "-e",
    "--regexp",
    "-A",
    "-B",
    "-C",
    "-m",
    "--max-count",
    "-d",
    "-D",
    "--directories",
    "--devices",
    "--binary-files",
    "--group-separator",
    "--context",
    "--after-context",
    "--before-context",
    "--include",
    "--exclude",
    "--exclude-dir",
    "--label",
];

const RG_VALUED: &[&str] = &[
    "-e",
    "--regexp",
    "-A",
    "-B",
    "-C",
    "-m",
    "--max-count",
    "-d",
    "--max-depth",
    "-g",
    "--glob",
    "-t",
    "--type",
    "-T",
    "--type-not",
    "--context",
    "--after-context",
    "--before-context",
    "--color",
];

const fn writes(
    name: &'static str,
    refused: &'static [&'static str],
    valued: &'static [&'static str],
) -> Profile {
    Profile { name, operands: Operands::WrittenFiles, refused, valued, file_valued: &[], recursive: &[] }
}

/// Sorted by use, not by name: the list is short and the frequent ones come first.
const PROFILES: &[Profile] = &[
    files("ls", &[], &["-I", "-w", "-T", "--ignore", "--width", "--tabsize"]),
    files("cat", &[], &[]),
    text("echo", &[]),
    search("grep", &[], GREP_VALUED),
    search("rg", &["--pre", "--pre-glob", "--hostname-bin", "-z", "--search-zip"], RG_VALUED),
    search("egrep", &[], GREP_VALUED),
    search("fgrep", &[], GREP_VALUED),
    files("head", &[], &["-n", "-c", "--lines", "--bytes"]),
    files("tail", &[], &["-n", "-c", "-s", "--lines", "--bytes", "--pid", "--sleep-interval"]),
    files("wc", &["--files0-from"], &[]),
    nothing("pwd", &[], &[]),
    text("printf", &["-v"]),
    text("true", &[]),
    text("false", &[]),
    text("sleep", &[]),
    text("seq", &[]),
    nothing("whoami", &[], &[]),
    text("id", &[]),
    text("uname", &[]),
    text("uptime", &[]),
    text("nproc", &[]),
    nothing("arch", &[], &[]),
    text("groups", &[]),
    text("basename", &[]),
    text("dirname", &[]),
    text("expr", &[]),
    text("which", &[]),
    text("type", &[]),
    text("tr", &[]),
    Profile {
        name: "date",
        operands: Operands::FormatOnly,
        refused: &["-s", "--set", "-f", "--file"],
        valued: &["-d", "--date", "-r", "--reference"],
        file_valued: &[],
        recursive: &[],
    },
    nothing("hostname", &["-F", "--file", "-b", "--boot"], &[]),
    // What these can change they change by operands, so only their options pass.
    text("ps", &[]),
    text("free", &[]),
    nothing("netstat", &[], &[]),
    nothing("ss", &["-K", "--kill", "-F", "--filter", "-D", "--diag"], &[]),
    nothing("ifconfig", &[], &[]),
    text("lsof", &["-m", "-D", "-k"]),
    text("pgrep", &[]),
    Profile {
        name: "fd",
        operands: Operands::PatternThenFiles,
        refused: &["-x", "-X", "--exec", "--exec-batch"],
        valued: &["-c", "-e", "-o", "-t", "-E", "-S", "-d", "-j"],
        file_valued: &["--base-directory", "--search-path"],
        recursive: &[],
    },
    nothing("history", &["-c", "-d", "-w", "-a", "-n", "-r", "-p", "-s"], &[]),
    text("locale", &[]),
    text("cal", &[]),
    text("help", &[]),
    text("test", &[]),
    text("[", &[]),
    // Its pager, browser and configuration are programs of the caller's choice.
    text(
        "man",
        &["-P", "--pager", "-H", "--html", "-C", "--config-file", "-l", "--local-file", "-X", "-T", "-Z"],
    ),
    files("stat", &[], &["-c", "--format", "--printf"]),
    files(
        "file",
        &["-C", "--compile", "-m", "--magic-file", "-f", "--files-from", "-z", "-Z"],
        &["-F", "-P"],
    ),
    files(
        "du",
        &["--files0-from", "-X", "--exclude-from"],
        &["-d", "-B", "-t", "--max-depth", "--block-size"],
    ),
    text("df", &[]),
    files("tree", &["-o", "--fromfile", "-R"], &["-L", "-P", "-I", "--filelimit"]),
    files("nl", &[], &["-b", "-d", "-f", "-h", "-i", "-l", "-n", "-s", "-v", "-w"]),
    files("tac", &[], &["-s"]),
    files("rev", &[], &[]),
    files("md5sum", &[], &[]),
    files("sha1sum", &[], &[]),
    files("sha256sum", &[], &[]),
    files("od", &[], &["-A", "-j", "-N", "-S", "-t", "-w"]),
    files("hexdump", &["-f"], &["-e", "-n", "-s"]),
    files("strings", &[], &["-n", "-t", "-e", "-s"]),
    files("cut", &[], &["-d", "-f", "-c", "-b", "--delimiter", "--fields", "--output-delimiter"]),
    files("paste", &[], &["-d", "--delimiters"]),
    files("column", &[], &["-s", "-o", "-c", "-N", "-t"]),
    files("fold", &[], &["-w", "--width"]),
    files("expand", &[], &["-t"]),
    files("unexpand", &[], &["-t"]),
    files("comm", &[], &["--output-delimiter"]),
    files("cmp", &[], &["-n", "-i"]),
    Profile {
        name: "diff",
        operands: Operands::Files,
        refused: &[],
        valued: &[
            "-U",
            "-C",
            "-x",
            "--unified",
            "--context",
            "--exclude",
            "-I",
            "-F",
            "-W",
            "--label",
            "--color",
        ],
        file_valued: &["-X", "--exclude-from", "--from-file", "--to-file"],
        recursive: &["-r", "--recursive"],
    },
    files(
        "sort",
        &["-o", "--output", "-T", "--temporary-directory", "--compress-program", "--files0-from"],
        &["-k", "-t", "-S", "--key", "--field-separator", "--buffer-size", "--parallel"],
    ),
    nothing("uniq", &[], &["-f", "-s", "-w", "--skip-fields", "--skip-chars", "--check-chars"]),
    files("tsort", &[], &[]),
    files("pr", &[], &[]),
    files("fmt", &[], &["-w", "-p", "-g", "--width", "--prefix", "--goal"]),
    files("numfmt", &[], &[]),
    // What they tell is where a file is, not what is in it.
    text("realpath", &[]),
    text("readlink", &[]),
    files("base64", &[], &["-w", "--wrap"]),
    Profile {
        name: "jq",
        operands: Operands::PatternThenFiles,
        refused: &["-f", "--from-file", "-L", "--slurpfile", "--rawfile", "--argfile", "--run-tests"],
        valued: &["--indent"],
        file_valued: &[],
        recursive: &[],
    },
    // Commands that touch only the files they name: accepted with edits inside the project.
    writes("touch", &[], &[]),
    writes("mkdir", &["-Z", "--context"], &["-m", "--mode"]),
    writes("rm", &[], &[]),
    writes("rmdir", &[], &[]),
    writes("mv", &["-Z", "--context"], &["-S", "--suffix"]),
    // What is copied is judged like the copy: a host that may change a folder may also take from it.
    Profile {
        name: "cp",
        operands: Operands::WrittenFiles,
        refused: &["-Z", "--context"],
        valued: &["-S", "--suffix"],
        file_valued: &[],
        recursive: &["-r", "-R", "-a", "--recursive", "--archive"],
    },
    writes("tee", &[], &[]),
];

/// The profile of a command by its name as written.
pub(crate) fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}
