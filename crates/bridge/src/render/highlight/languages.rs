//! What tells the parts of a language apart, a row each.

/// What the scanner knows of a language.
#[derive(Debug)]
pub(crate) struct Language {
    /// Its name, then its other names and the endings of its files.
    names: &'static [&'static str],
    pub(super) way: Way,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// What strings begin and end with.
    pub(super) quotes: &'static [&'static str],
    pub(super) keywords: &'static str,
    pub(super) constants: &'static str,
}

/// How a language is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Words, numbers and strings.
    Words,
    /// The same, and a capital letter begins a type.
    Types,
    /// The same, and a quote may begin a lifetime.
    Rust,
    /// Words where case does not matter.
    AnyCase,
    /// Commands and variables.
    Shell,
    /// Names and values.
    Data,
    /// Tags and attributes.
    Markup,
    /// Lines that come and go.
    Changes,
}

impl Language {
    /// The language that is called so, by itself or by the ending of a file.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        let name = name.to_ascii_lowercase();
        LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()))
    }

    /// The language of a file.
    pub(crate) fn of_file(path: &str) -> Option<&'static Self> {
        let file = path.rsplit('/').next()?;
        Self::named(file.rsplit('.').next()?)
    }

    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// All names that the class of a block may have.
    pub(crate) fn all() -> impl Iterator<Item = &'static str> {
        LANGUAGES.iter().map(Self::name)
    }
}

const C_COMMENTS: Option<(&str, &str)> = Some(("/*", "*/"));
const C_CONSTANTS: &str = "true false null NULL nullptr this super";

/// A language with the comments of C.
const fn c_like(names: &'static [&'static str], keywords: &'static str) -> Language {
    Language {
        names,
        way: Way::Types,
        line_comments: &["//"],
        block_comment: C_COMMENTS,
        quotes: &["\"", "'"],
        keywords,
        constants: C_CONSTANTS,
    }
}

static LANGUAGES: [Language; 25] = [
    Language {
        names: &["rust", "rs"],
        way: Way::Rust,
        line_comments: &["//"],
        block_comment: C_COMMENTS,
        quotes: &["\""],
        keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut \
            pub ref return static struct super trait type union unsafe use where while yield macro_rules",
        constants: "true false None Some Ok Err self Self",
    },
    Language {
        names: &["python", "py", "python3", "pyi"],
        way: Way::Types,
        line_comments: &["#"],
        block_comment: None,
        quotes: &["\"\"\"", "'''", "\"", "'"],
        keywords: "and as assert async await break case class continue def del elif else except finally for from global if \
            import in is lambda match nonlocal not or pass raise return try type while with yield",
        constants: "True False None self cls",
    },
    Language {
        quotes: &["\"", "'", "`"],
        constants: "true false null undefined NaN this super",
        ..c_like(
            &["javascript", "js", "jsx", "mjs", "cjs", "node"],
            "as async await break case catch class const continue debugger default delete do else export extends finally for \
                from function get if import in instanceof let new of return set static switch throw try typeof var void while \
                with yield",
        )
    },
    Language {
        quotes: &["\"", "'", "`"],
        constants: "true false null undefined NaN this super",
        ..c_like(
            &["typescript", "ts", "tsx", "mts", "cts"],
            "abstract any as asserts async await bigint boolean break case catch class const continue declare default delete do \
                else enum export extends finally for from function get if implements import in infer instanceof interface is \
                keyof let namespace never new number object of override private protected public readonly return satisfies set \
                static string switch symbol throw try type typeof unknown var void while with yield",
        )
    },
    Language {
        names: &["bash", "sh", "shell", "zsh", "fish", "console", "shell-session", "bashrc", "profile"],
        way: Way::Shell,
        line_comments: &["#"],
        block_comment: None,
        quotes: &["\"", "'", "`"],
        keywords: "case do done elif else esac export fi for function if in local readonly return select set shift then time \
            trap unset until while",
        constants: "true false",
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl", "ndjson", "ipynb", "webmanifest"],
        way: Way::Data,
        line_comments: &["//"],
        block_comment: C_COMMENTS,
        quotes: &["\""],
        keywords: "",
        constants: "true false null",
    },
    Language {
        names: &["yaml", "yml"],
        way: Way::Data,
        line_comments: &["#"],
        block_comment: None,
        quotes: &["\"", "'"],
        keywords: "",
        constants: "true false null yes no on off",
    },
    Language {
        names: &["toml", "ini", "cfg", "conf", "env", "lock", "properties", "service"],
        way: Way::Data,
        line_comments: &["#", ";"],
        block_comment: None,
        quotes: &["\"\"\"", "'''", "\"", "'"],
        keywords: "",
        constants: "true false",
    },
    Language {
        quotes: &["\"", "'", "`"],
        constants: "true false nil iota",
        ..c_like(
            &["go", "golang"],
            "any bool break byte case chan const continue default defer else error fallthrough float64 for func go goto if \
                import int int64 interface map package range return rune select string struct switch type uint uint64 var",
        )
    },
    c_like(
        &["java", "groovy", "gradle"],
        "abstract assert boolean break byte case catch char class const continue default do double else enum extends final \
            finally float for if implements import instanceof int interface long native new package private protected public \
            record return sealed short static strictfp switch synchronized throw throws transient try var void volatile while \
            yield",
    ),
    Language {
        quotes: &["\"\"\"", "\"", "'"],
        ..c_like(
            &["kotlin", "kt", "kts"],
            "abstract as break by catch class companion const constructor continue data do else enum false final finally for fun \
                if import in init inline interface internal is lateinit object open operator override package private protected \
                public return sealed suspend throw try typealias val var vararg when where while",
        )
    },
    Language {
        quotes: &["\"\"\"", "\""],
        constants: "true false nil self Self super",
        ..c_like(
            &["swift"],
            "actor as associatedtype async await break case catch class continue default defer deinit do else enum extension \
                fallthrough fileprivate for func guard if import in init inout internal is let mutating open operator private \
                protocol public repeat rethrows return some static struct subscript switch throw throws try typealias var where \
                while",
        )
    },
    c_like(
        &["c", "h"],
        "auto bool break case char const continue default define do double else enum extern float for goto if ifdef ifndef \
            include inline int long pragma register restrict return short signed sizeof static struct switch typedef union \
            unsigned void volatile while",
    ),
    c_like(
        &["cpp", "c++", "cc", "cxx", "hpp", "hh", "hxx", "cuda", "cu"],
        "alignas auto bool break case catch char class concept const consteval constexpr const_cast continue co_await co_return \
            co_yield decltype default define delete do double dynamic_cast else enum explicit export extern float for friend \
            goto if ifdef ifndef include inline int long mutable namespace new noexcept operator pragma private protected \
            public register reinterpret_cast requires return short signed sizeof static static_cast struct switch template \
            throw try typedef typeid typename union unsigned using virtual void volatile while",
    ),
    c_like(
        &["csharp", "cs", "c#"],
        "abstract as async await base bool break byte case catch char class const continue decimal default delegate do double \
            else enum event explicit extern finally fixed float for foreach get if implicit in init int interface internal is \
            lock long namespace new object operator out override params private protected public readonly record ref return \
            sbyte sealed set short sizeof static string struct switch throw try typeof uint ulong unsafe using var virtual void \
            while yield",
    ),
    c_like(
        &["dart", "scala", "zig"],
        "abstract as async await break case catch class comptime const continue def default defer do dynamic else enum export \
            extends extension factory final finally fn for get given if implements import in is late let library match mixin \
            new object of on operator override package part private protected pub required return sealed set static struct \
            switch test then throw trait try type typedef union using val var void when while with yield",
    ),
    Language {
        names: &["ruby", "rb", "gemfile", "rakefile", "elixir", "ex", "exs"],
        way: Way::Types,
        line_comments: &["#"],
        block_comment: None,
        quotes: &["\"", "'", "`"],
        keywords: "alias and begin break case class cond def defmodule defp do else elsif end ensure for if import in module next \
            not or raise redo require rescue retry return then undef unless until use when while with yield",
        constants: "true false nil self super",
    },
    Language {
        line_comments: &["//", "#"],
        way: Way::Shell,
        ..c_like(
            &["php"],
            "abstract and array as break case catch class const continue declare default do echo else elseif enum extends final \
                finally fn for foreach function global if implements include instanceof interface match namespace new or print \
                private protected public readonly require require_once return static switch throw trait try use var while \
                yield",
        )
    },
    Language {
        names: &["sql", "sqlite", "postgresql", "mysql", "psql"],
        way: Way::AnyCase,
        line_comments: &["--"],
        block_comment: C_COMMENTS,
        quotes: &["'", "\"", "`"],
        keywords: "add all alter and as asc begin between by case cascade check column commit constraint create cross database \
            default delete desc distinct drop else end except exists explain foreign from full group having if in index inner \
            insert intersect into is join key left like limit not offset on or order outer partition pragma primary references \
            returning right rollback select set table then transaction trigger union unique update using values view when where \
            with",
        constants: "null true false",
    },
    Language {
        names: &["html", "xml", "svg", "vue", "svelte", "xhtml", "htm", "plist"],
        way: Way::Markup,
        line_comments: &[],
        block_comment: Some(("<!--", "-->")),
        quotes: &["\"", "'"],
        keywords: "",
        constants: "",
    },
    Language {
        names: &["css", "scss", "less", "sass"],
        way: Way::Data,
        line_comments: &[],
        block_comment: C_COMMENTS,
        quotes: &["\"", "'"],
        keywords: "",
        constants: "inherit initial none auto unset",
    },
    Language {
        names: &["diff", "patch", "udiff"],
        way: Way::Changes,
        line_comments: &[],
        block_comment: None,
        quotes: &[],
        keywords: "",
        constants: "",
    },
    Language {
        names: &["lua"],
        way: Way::Words,
        line_comments: &["--"],
        block_comment: Some(("--[[", "]]")),
        quotes: &["\"", "'"],
        keywords: "and break do else elseif end for function goto if in local not or repeat return then until while",
        constants: "true false nil self",
    },
    Language {
        names: &["dockerfile", "containerfile"],
        way: Way::Shell,
        line_comments: &["#"],
        block_comment: None,
        quotes: &["\"", "'"],
        keywords: "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL ONBUILD RUN SHELL STOPSIGNAL USER VOLUME \
            WORKDIR",
        constants: "",
    },
    Language {
        names: &["makefile", "make", "mk", "cmake", "just", "justfile"],
        way: Way::Shell,
        line_comments: &["#"],
        block_comment: None,
        quotes: &["\"", "'"],
        keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override set if endforeach foreach function",
        constants: "",
    },
];
