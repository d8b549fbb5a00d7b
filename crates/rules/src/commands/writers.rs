//! Files that commands change, for rules that forbid it. Nothing is allowed by this table, so it would rather see too much.

use super::arguments::FileWord;
use crate::shell::word::Word;

/// What the operands of a command are to the files they name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operands {
    /// None of them is changed.
    Kept,
    /// Each may be changed, created, replaced or removed.
    Changed,
    /// The second is written.
    Second,
    /// `of=file` is written, `if=file` read.
    Assigned,
}

/// A command that writes: its operands, and the options whose value is a file that it writes.
type Writer = (&'static [&'static str], Operands, &'static [&'static str]);

const COMPILERS: &[&str] = &[
    "cc", "c++", "gcc", "g++", "clang", "clang++", "ld", "as", "rustc", "nasm", "yasm", "tsc", "ghc", "zig",
];

const WRITERS: &[Writer] = &[
    (&["sort"], Operands::Kept, &["-o", "--output"]),
    (&["tree"], Operands::Kept, &["-o"]),
    (&["dd"], Operands::Assigned, &[]),
    (
        &["curl"],
        Operands::Kept,
        &[
            "-o",
            "--output",
            "-D",
            "--dump-header",
            "-c",
            "--cookie-jar",
            "--trace",
            "--trace-ascii",
            "--stderr",
            "--etag-save",
            "--libcurl",
            "--hsts",
            "--alt-svc",
            "--output-dir",
        ],
    ),
    (
        &["wget"],
        Operands::Kept,
        &[
            "-O",
            "--output-document",
            "-o",
            "--output-file",
            "-a",
            "--append-output",
            "-P",
            "--directory-prefix",
            "--save-cookies",
        ],
    ),
    (&["aria2c"], Operands::Kept, &["-o", "--out", "-d", "--dir"]),
    (
        &["tar", "bsdtar", "gtar"],
        Operands::Kept,
        &["-f", "--file", "-C", "--directory", "-g", "--listed-incremental"],
    ),
    (
        &["openssl", "gpg", "gpg2", "age"],
        Operands::Kept,
        &["-out", "--out", "-o", "--output", "-writerand", "-keyout"],
    ),
    (&["ssh-keygen"], Operands::Kept, &["-f"]),
    (COMPILERS, Operands::Kept, &["-o", "--output", "-MF", "--out-dir", "--outFile", "--outDir"]),
    (
        &["go", "cargo", "iconv", "pandoc", "xsltproc", "xmllint", "protoc", "flex", "bison", "m4"],
        Operands::Kept,
        &["-o", "--output", "-d", "--out-dir"],
    ),
    (&["git"], Operands::Kept, &["-o", "--output", "--output-directory"]),
    (&["strace", "ltrace", "time", "script", "perf"], Operands::Kept, &["-o", "--output"]),
    (&["ffmpeg", "convert", "magick", "sox"], Operands::Changed, &[]),
    (
        &["cp", "mv", "ln", "install", "rsync", "scp", "sftp", "link", "ditto"],
        Operands::Changed,
        &["-t", "--target-directory"],
    ),
    (
        &[
            "truncate",
            "shred",
            "unlink",
            "rm",
            "rmdir",
            "srm",
            "trash",
            "tee",
            "touch",
            "mkdir",
            "mkfifo",
            "mknod",
            "fallocate",
            "sponge",
        ],
        Operands::Changed,
        &[],
    ),
    (
        &[
            "split", "csplit", "patch", "ed", "ex", "vi", "vim", "nvim", "nano", "emacs", "rename",
            "prename", "mktemp", "dos2unix", "unix2dos",
        ],
        Operands::Changed,
        &["-o", "--output", "-f", "--prefix", "-r"],
    ),
    (
        &[
            "gzip",
            "gunzip",
            "bzip2",
            "bunzip2",
            "xz",
            "unxz",
            "zstd",
            "unzstd",
            "lz4",
            "compress",
            "uncompress",
            "zip",
            "unzip",
            "7z",
            "7za",
            "rar",
            "unrar",
            "ar",
            "cpio",
        ],
        Operands::Changed,
        &["-o", "-d", "-O", "-F", "--file"],
    ),
    (
        &[
            "strip",
            "objcopy",
            "patchelf",
            "gofmt",
            "rustfmt",
            "black",
            "prettier",
            "clang-format",
            "autopep8",
            "isort",
            "yapf",
            "shfmt",
        ],
        Operands::Changed,
        &["-o", "--output"],
    ),
    (&["uniq", "xxd"], Operands::Second, &[]),
];

/// Subcommands of git that change or remove the files they are given.
const GIT_WRITES: &[&str] =
    &["checkout", "restore", "rm", "mv", "clean", "apply", "am", "stash", "reset", "switch", "archive"];

/// The files that a command may change, if it is known to change any.
pub(crate) fn changed_files<'a>(name: &str, arguments: &'a [Word]) -> Option<Vec<FileWord<'a>>> {
    let edits_in_place = match name {
        "perl" | "ruby" => arguments.iter().any(|word| word.text.starts_with('-') && word.text.contains('i')),
        "awk" | "gawk" => arguments.iter().any(|word| word.text == "inplace"),
        "yq" => arguments.iter().any(|word| word.text == "-i" || word.text == "--inplace"),
        "git" => arguments.iter().any(|word| GIT_WRITES.contains(&word.text.as_str())),
        "find" => arguments
            .iter()
            .any(|word| word.text == "-delete" || word.text.starts_with("-fprint") || word.text == "-fls"),
        _ => false,
    };
    let writer = WRITERS.iter().find(|(names, ..)| names.contains(&name));
    let (operands, options) = match writer {
        Some((_, operands, options)) => (*operands, *options),
        None if edits_in_place => (Operands::Changed, &[][..]),
        None => return None,
    };
    let operands = if edits_in_place { Operands::Changed } else { operands };
    let mut changed = written_by_options(arguments, options);
    match operands {
        Operands::Kept => {}
        Operands::Changed => {
            changed.extend(arguments.iter().filter(|word| !word.text.starts_with('-')).map(FileWord::whole));
        }
        Operands::Second => {
            changed.extend(
                arguments.iter().filter(|word| !word.text.starts_with('-')).skip(1).map(FileWord::whole),
            );
        }
        Operands::Assigned => changed.extend(
            arguments
                .iter()
                .filter_map(|word| word.text.strip_prefix("of=").map(|text| FileWord { word, text })),
        ),
    }
    // `tar cf x.tar`: the letters of the first word, without a dash.
    if name.ends_with("tar")
        && arguments.first().is_some_and(|word| !word.text.starts_with('-') && word.text.contains('f'))
    {
        changed.extend(arguments.get(1).map(FileWord::whole));
    }
    Some(changed)
}

/// The values of options that name a file to write, in all forms: `-o f`, `-of`, `-xof`, `--output f`, `--output=f`, `--outp f`.
pub(super) fn written_by_options<'a>(arguments: &'a [Word], options: &[&str]) -> Vec<FileWord<'a>> {
    let mut written = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let text = word.text.as_str();
        let next = arguments.get(at + 1).map(FileWord::whole);
        if let Some(long) = text.strip_prefix("--") {
            let (name, attached) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let means = |option: &&str| {
                option.strip_prefix("--").is_some_and(|known| known.starts_with(name) && !name.is_empty())
            };
            if options.iter().any(means) {
                written.extend(attached.map(|text| FileWord { word, text }).or(next));
            }
            continue;
        }
        for option in options.iter().filter(|option| !option.starts_with("--")) {
            match option.len() {
                // A letter may stand anywhere in a cluster.
                2 if text.starts_with('-') => {
                    let Some(found) = text[1..].find(&option[1..]) else { continue };
                    let value = &text[1 + found + 1..];
                    written.extend(if value.is_empty() {
                        next
                    } else {
                        Some(FileWord { word, text: value })
                    });
                }
                _ if text == *option => written.extend(next),
                _ => {}
            }
        }
    }
    written
}

/// Values of options by which programs that nobody knows usually write a file.
pub(crate) fn likely_written(arguments: &[Word]) -> Vec<FileWord<'_>> {
    const USUAL: &[&str] = &["-o", "-O", "--output", "--out", "--outfile", "-out"];
    written_by_options(arguments, USUAL)
}
