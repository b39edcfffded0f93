//! What the arguments of programs mean: one row for all that do the same. The first row that fits counts; a program that has
//! none is taken to read every argument that looks like a path.

use super::Access;
use crate::pattern::Patterns;

/// What the arguments of a program are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// No files that it opens.
    Nothing,
    /// Files, all touched in the same way.
    Operands(Access),
    /// Nothing but the values of these options.
    Options(&'static [&'static str], Access),
    /// Sources and a target.
    Copies,
    /// What is packed, or where it is unpacked.
    Archives,
    /// Addresses, and files that are written or sent.
    Downloads,
    /// A script, and files that it may change.
    Edits,
    /// `if=` and `of=`.
    Blocks,
    /// A mode or an owner, and files that get it.
    Permissions,
    /// Folders whose contents are deleted.
    Search,
    /// A command of git with its paths.
    Git,
    /// A patch that names its files.
    Patch,
}

/// Programs and what their arguments mean.
pub(super) struct Row {
    pub(super) patterns: Patterns,
    pub(super) meaning: Meaning,
    /// Options that take the next argument.
    pub(super) valued: &'static [&'static str],
}

const fn row(patterns: &'static [&'static str], meaning: Meaning, valued: &'static [&'static str]) -> Row {
    Row { patterns: Patterns::new(patterns), meaning, valued }
}

/// Options of programs that make files.
const MAKES_VALUED: &[&str] = &["-m", "--mode", "-d", "-t", "-r", "-c"];

pub(super) const TABLE: &[Row] = &[
    row(&["rm|srm|del|rmtrash -r|-R|--recursive"], Meaning::Operands(Access::DeleteTree), &[]),
    row(&["rm|srm|del|rmtrash|unlink|rmdir"], Meaning::Operands(Access::Delete), &[]),
    row(
        &[
            "trash|trash-put|trash-cli|empty-dir|move-to-trash|rimraf|gio|Remove-Item|rip|del-cli",
            "fdupes|jdupes -d|-N|--delete",
            "rdfind|fclones|rmlint|tmpreaper|tmpwatch|kioclient|kioclient5|gvfs-trash !--dry-run",
        ],
        Meaning::Operands(Access::DeleteTree),
        &[],
    ),
    // A file of another name is one that is not there any more.
    row(
        &["rename|prename|file-rename|perl-rename|mmv|zmv|detox|convmv|f2|nomino"],
        Meaning::Operands(Access::Delete),
        &["-e"],
    ),
    // What is only in the target is deleted.
    row(
        &[
            "aws s3 sync --delete",
            "gsutil rsync -d",
            "gsutil -m rsync -d",
            "gcloud storage rsync --delete-unmatched-destination-objects",
        ],
        Meaning::Operands(Access::DeleteTree),
        &["--exclude", "--include", "--profile"],
    ),
    row(&["truncate"], Meaning::Operands(Access::Empty), &["-s", "-r", "--size", "--reference"]),
    row(&["shred|wipe"], Meaning::Operands(Access::Empty), &["-n", "-s", "--iterations", "--size"]),
    row(&["mv|cp|install|rsync|scp|ditto|ln", "docker|podman cp"], Meaning::Copies, &[]),
    row(&["touch|mkdir", "tee|sponge -a|--append"], Meaning::Operands(Access::Append), MAKES_VALUED),
    row(
        &["tee|sponge|mkfifo|mknod|nano|vim|vi|nvim|emacs|ed|ex|code"],
        Meaning::Operands(Access::Write),
        MAKES_VALUED,
    ),
    // Editors of files in place, and programs that put something else where a file was.
    row(
        &[
            "yq|jaq|gojq|dasel|mlr|xmlstarlet|htmlq -i|-I|--inplace|--in-place|-L",
            "prettier|biome|eslint|dprint|deno --write|--fix",
            "gofmt|goimports|shfmt|rustfmt|black|isort|autopep8|clang-format -w|-i|--in-place",
            "patch|sd|sad|dos2unix|unix2dos|mac2unix|crudini|plutil|joe|micro|hx|helix|kak|pico|subl|mg|jed|mcedit",
            "gzip|bzip2|xz|zstd|lzma|compress|gunzip|unxz|bunzip2|unzstd !-c|-k|-t|-l|--stdout|--keep|--test|--list",
        ],
        Meaning::Operands(Access::Write),
        &["-p", "-i", "-B", "-z", "-F", "-D", "-r", "--strip", "--input"],
    ),
    // What they write in its place has less in it.
    row(
        &[
            "mogrify|jpegoptim|optipng !-n|-d|--dest|--stdout|-out",
            "exiftool ~-overwrite_original*",
            "mat2 --inplace",
        ],
        Meaning::Operands(Access::Empty),
        &["-resize", "-quality", "-m", "-S", "-o", "-path", "-format"],
    ),
    row(&["cargo clean"], Meaning::Options(&["target-dir"], Access::DeleteTree), &[]),
    row(
        &["bazel|bazelisk clean"],
        Meaning::Options(&["output_base", "output_user_root"], Access::DeleteTree),
        &[],
    ),
    row(
        &["vite|webpack|parcel|esbuild ~--emptyOutDir|--clean"],
        Meaning::Options(&["outDir", "output-path", "dist-dir", "outdir"], Access::DeleteTree),
        &[],
    ),
    row(&["dd"], Meaning::Blocks, &[]),
    row(&["sed|perl|awk|ruby"], Meaning::Edits, &[]),
    row(&["chmod|chown|chgrp|setfacl|chattr|chflags"], Meaning::Permissions, &[]),
    row(&["find|fd ~-delete"], Meaning::Search, &[]),
    row(&["git"], Meaning::Git, &[]),
    row(&["tar|bsdtar|zip|7z|7za|7zr|7zz|rar|unrar|unzip|cpio|pax|jar|ar"], Meaning::Archives, &[]),
    row(&["python -m=zipfile|-m=tarfile -e|--extract"], Meaning::Operands(Access::Write), &["-m"]),
    row(&["curl|wget"], Meaning::Downloads, &[]),
    row(&["apply_patch"], Meaning::Patch, &[]),
    // They say something about files, or do not open those that they name.
    row(
        &[
            "echo|printf|ls|stat|test|[|[[|file|du|df|basename|dirname|realpath|readlink|cd|pushd",
            "which|type|export|unset|alias|find|fd|true|false|:|ssh|ssh-add|ssh-keygen|docker|podman",
            "kubectl|helm|npm|pnpm|yarn|cargo|make|source|.|wc|sha256sum|sha1sum|md5sum|sha512sum|cmp",
            "eza|exa|tree|man|help|sudo|env|bash|sh|zsh|xargs|trap|eval|kill|chezmoi|ralph|gitleaks",
            "shellcheck|command|nohup|timeout|nice|declare|local|set|eslint|prettier|tmux|dotenv",
            "direnv",
        ],
        Meaning::Nothing,
        &[],
    ),
];
