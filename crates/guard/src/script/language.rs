//! Interpreters, and how they take code.

use crate::command::Command;

/// How an interpreter takes code.
pub(crate) struct Language {
    program: &'static str,
    /// Options that take code.
    pub(crate) letters: &'static str,
    pub(crate) names: &'static [&'static str],
    /// Options that take another argument.
    pub(crate) valued: &'static [&'static str],
}

const fn language(program: &'static str, letters: &'static str, names: &'static [&'static str]) -> Language {
    Language { program, letters, names, valued: &[] }
}

const LANGUAGES: &[Language] = &[
    Language { program: "python", letters: "c", names: &[], valued: &["-W", "-X", "-m"] },
    Language {
        program: "node",
        letters: "ep",
        names: &["eval", "print"],
        valued: &["-r", "--require", "--import"],
    },
    language("deno", "", &[]),
    language("bun", "e", &["eval"]),
    language("tsx", "e", &["eval"]),
    language("ts-node", "ep", &["eval", "print"]),
    language("zx", "e", &["eval"]),
    Language { program: "perl", letters: "eE", names: &[], valued: &["-I"] },
    language("raku", "e", &[]),
    Language { program: "ruby", letters: "e", names: &[], valued: &["-I", "-r"] },
    Language { program: "php", letters: "r", names: &["run"], valued: &["-d", "-S", "-t"] },
    Language { program: "lua", letters: "e", names: &[], valued: &["-l"] },
    language("awk", "", &[]),
    Language { program: "osascript", letters: "e", names: &[], valued: &["-l"] },
    language("Rscript", "e", &[]),
    language("R", "e", &[]),
    language("tclsh", "", &[]),
    language("expect", "c", &[]),
    language("julia", "eE", &["eval", "print"]),
    language("elixir", "e", &["eval"]),
    language("groovy", "e", &[]),
    language("scala", "e", &[]),
    language("swift", "e", &[]),
    language("ghc", "e", &[]),
    language("octave", "", &["eval"]),
    language("go", "", &[]),
    language("jshell", "", &[]),
    Language { program: "kotlinc", letters: "", names: &[], valued: &["-cp", "-classpath"] },
    language("kotlin", "e", &[]),
    language("dotnet", "", &["exec"]),
    language("crystal", "", &[]),
    language("wp", "", &[]),
    language("erl", "", &["eval"]),
    language("iex", "e", &["eval"]),
    language("irb", "e", &[]),
    language("pry", "e", &["exec"]),
    language("scala-cli", "e", &["execute-script"]),
    language("ocaml", "e", &[]),
    language("rust-script", "e", &["expr"]),
    language("janet", "e", &[]),
    language("bb", "e", &["eval"]),
    language("gjs", "c", &["command"]),
    language("qjs", "e", &["eval"]),
    language("jsc", "e", &[]),
    language("wish", "", &[]),
    language("runghc", "e", &[]),
    language("nim", "", &["eval"]),
    language("emacs", "", &["eval", "execute"]),
    language("emacsclient", "e", &["eval"]),
    language("sbcl", "", &["eval"]),
    language("guile", "c", &[]),
    language("racket", "e", &["eval"]),
    language("clojure", "e", &["eval"]),
    language("clj", "e", &["eval"]),
    language("joker", "e", &["eval"]),
    language("fennel", "e", &["eval"]),
    language("hy", "c", &[]),
    language("vim", "c", &["cmd"]),
    language("vi", "c", &["cmd"]),
    language("nvim", "c", &["cmd"]),
    language("ex", "c", &["cmd"]),
    language("java", "", &[]),
    language("dart", "", &[]),
    language("zig", "", &[]),
    Language { program: "rustc", letters: "", names: &[], valued: COMPILER_VALUED },
    Language { program: "gcc", letters: "", names: &[], valued: COMPILER_VALUED },
    Language { program: "cc", letters: "", names: &[], valued: COMPILER_VALUED },
    Language { program: "clang", letters: "", names: &[], valued: COMPILER_VALUED },
    Language { program: "g++", letters: "", names: &[], valued: COMPILER_VALUED },
    Language { program: "c++", letters: "", names: &[], valued: COMPILER_VALUED },
    Language { program: "clang++", letters: "", names: &[], valued: COMPILER_VALUED },
    Language { program: "tcc", letters: "", names: &[], valued: COMPILER_VALUED },
    Language { program: "swiftc", letters: "", names: &[], valued: COMPILER_VALUED },
    Language { program: "csharprepl", letters: "e", names: &["eval"], valued: &[] },
    Language { program: "v", letters: "", names: &[], valued: COMPILER_VALUED },
    Language { program: "rdmd", letters: "", names: &["eval"], valued: &[] },
];

/// Options of compilers that take the next argument.
const COMPILER_VALUED: &[&str] = &[
    "-o",
    "-x",
    "-I",
    "-L",
    "-l",
    "-C",
    "--edition",
    "--crate-type",
    "--crate-name",
    "--out-dir",
    "-target",
    "-O",
];

/// Languages in which a call is `(name ...)`.
const LISPS: [&str; 12] = [
    "emacs",
    "emacsclient",
    "sbcl",
    "guile",
    "racket",
    "clojure",
    "clj",
    "bb",
    "joker",
    "janet",
    "fennel",
    "hy",
];

/// Editors: the file that they are given is no script.
pub(crate) const EDITORS: [&str; 6] = ["vim", "vi", "nvim", "ex", "emacs", "emacsclient"];

/// Code in which calls are written as most languages write them.
pub(crate) fn with_usual_calls(code: &str, program: &str) -> String {
    if program == "python" && code.contains("plumbum") {
        // `rm['-rf', path]()` is a command.
        return code.replace('[', "(").replace(']', ")");
    }
    if !LISPS.contains(&program) {
        return code.to_owned();
    }
    let mut usual = String::new();
    let mut rest = code;
    while let Some((before, after)) = rest.split_once('(') {
        let end = after.find(|next: char| next.is_whitespace() || next == ')').unwrap_or(after.len());
        // `fs/delete-tree` is a function of a module, `delete-directory/files` is one name.
        let name = &after[..end];
        let parts: &[char] = if name.starts_with("delete-") { &[] } else { &['/', ':'] };
        let name = name.rsplit(parts).next().unwrap_or_default().replace(['-', '/'], "_");
        usual.push_str(before);
        usual.extend([" ", &name, "("]);
        rest = &after[end..];
    }
    usual + rest
}

/// The code that a framework is given to run inside of the application: `rails runner`, `artisan tinker`.
pub(crate) fn framework_code(command: &Command) -> Option<String> {
    let after = |verbs: &[&str]| {
        let at = command.args.iter().position(|arg| verbs.contains(&arg.as_str()))?;
        command.args.get(at + 1).filter(|code| code.contains(['(', '.', ' '])).cloned()
    };
    let value =
        |letters: &str, names: &[&str]| command.values(letters, names).first().map(|code| (*code).to_owned());
    match command.program.as_str() {
        "rails" => after(&["runner", "r"]),
        "php" if command.has_word(&["tinker"]) => value("", &["execute"]),
        "artisan" | "sail" => value("", &["execute"]),
        "manage.py" | "django-admin" => value("c", &["command"]),
        "drush" => after(&["php:eval", "php-eval", "ev", "eval"]),
        "mix" => value("e", &["eval"]).or_else(|| after(&["eval"])),
        "mongosh" | "mongo" => value("", &["eval"]),
        "cargo" if command.has_word(&["script", "eval"]) => value("e", &["expr", "expression"]),
        _ => None,
    }
}

/// How this interpreter takes code, if it is one.
pub(crate) fn language_of(program: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.program == program)
}
