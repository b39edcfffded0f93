//! The projects, as data: what a user types to make each, and what tests it.

/// A project.
pub(super) struct Template {
    pub(super) ecosystem: &'static str,
    pub(super) name: &'static str,
    /// Makes it in an empty folder called `sample`, with what it needs installed, as a shell script.
    pub(super) make: &'static str,
    /// Its usual test command.
    pub(super) test: &'static str,
}

impl Template {
    /// Whether a word means it.
    pub(super) fn is_named(&self, word: &str) -> bool {
        self.name == word || self.ecosystem == word
    }
}

macro_rules! template {
    ($ecosystem:literal, $name:literal, $test:literal, $make:expr) => {
        Template { ecosystem: $ecosystem, name: $name, test: $test, make: $make }
    };
}

/// A crate of crates.io, with the tests that are in its package.
macro_rules! crate_of {
    ($name:literal, $version:literal) => {
        template!(
            "cargo",
            $name,
            "cargo test",
            concat!(
                "cargo init -q --name x; cargo add -q ",
                $name,
                "@=",
                $version,
                "; cargo vendor -q ../vendor; rm -rf * .gitignore; ",
                "cp -R ../vendor/",
                $name,
                "/. .; rm -f Cargo.lock .cargo-checksum.json .cargo_vcs_info.json Cargo.toml.orig; ",
                "echo /target > .gitignore"
            )
        )
    };
}

/// A sample of `create-vite`.
macro_rules! vite {
    ($name:literal, $template:literal) => {
        template!(
            "npm",
            $name,
            "npm run build",
            concat!(
                "npm create --yes vite@latest . -- --template ",
                $template,
                " --no-interactive; npm install"
            )
        )
    };
}

/// A source package of the Python index, with its tests, in a virtual environment.
macro_rules! sdist {
    ($name:literal, $more:literal) => {
        template!(
            "python",
            $name,
            ".venv/bin/python -m pytest -q",
            concat!(
                "python3 -m pip download -q --no-deps --no-build-isolation --no-binary :all: -d .. ",
                $name,
                " || python3 -m pip download -q --no-deps --no-binary :all: -d .. ",
                $name,
                "; tar -xzf ../*.tar.gz --strip-components=1; ",
                "python3 -m venv .venv; .venv/bin/pip install -q -e . pytest ",
                $more,
                "; printf '.venv\\n__pycache__\\n*.egg-info\\n.pytest_cache\\n' >> .gitignore"
            )
        )
    };
}

/// All of them.
pub(super) const TEMPLATES: [Template; 33] = [
    template!("cargo", "new", "cargo test", "cargo init -q --name sample"),
    template!("cargo", "new-lib", "cargo test", "cargo init -q --lib --name sample"),
    template!(
        "cargo",
        "new-workspace",
        "cargo test --workspace",
        "printf '[workspace]\\nresolver = \"3\"\\nmembers = [\"a\", \"b\"]\\n' > Cargo.toml; cargo new -q --vcs none --lib a; \
         cargo new -q --vcs none --lib b; cargo add -q --path a -p b; echo target > .gitignore"
    ),
    crate_of!("fnv", "1.0.7"),
    crate_of!("hex", "0.4.3"),
    crate_of!("itoa", "1.0.11"),
    crate_of!("either", "1.13.0"),
    crate_of!("semver", "1.0.23"),
    crate_of!("unicode-width", "0.1.13"),
    crate_of!("bitflags", "2.6.0"),
    template!(
        "npm",
        "init",
        "npm test",
        "npm init -y; npm pkg set scripts.test='node --test'; npm install left-pad; echo node_modules > .gitignore; \
         echo 'require(\"node:test\")(\"x\", () => require(\"left-pad\")(1, 2))' > x.test.js"
    ),
    vite!("vite-vanilla-ts", "vanilla-ts"),
    vite!("vite-react-ts", "react-ts"),
    vite!("vite-vue-ts", "vue-ts"),
    vite!("vite-svelte-ts", "svelte-ts"),
    vite!("vite-lit-ts", "lit-ts"),
    vite!("vite-solid-ts", "solid-ts"),
    template!(
        "npm",
        "create-vue",
        "npx vitest run",
        "cd ..; npx --yes create-vue@latest sample --force --ts --vitest; cd sample; npm install"
    ),
    template!(
        "npm",
        "svelte-kit",
        "npm run check",
        "npx --yes sv create . --template minimal --types ts --no-add-ons --no-install --no-dir-check; npm install"
    ),
    template!(
        "npm",
        "fastify",
        "npm test",
        "npx --yes fastify-cli generate . --integrate || npx --yes fastify-cli generate app; \
         if [ -d app ]; then mv app/* app/.[!.]* . 2>/dev/null || true; rmdir app; fi; npm install; echo node_modules >> .gitignore"
    ),
    template!(
        "npm",
        "express",
        "node -e 'require(\"./app\")'",
        "npx --yes express-generator --no-view --git --force .; npm install"
    ),
    template!(
        "npm",
        "nest",
        "npm test",
        "npx --yes @nestjs/cli new sample --directory . --skip-git --package-manager npm; echo node_modules >> .gitignore"
    ),
    sdist!("iniconfig", "hatchling hatch-vcs"),
    sdist!("pluggy", ""),
    sdist!("itsdangerous", "freezegun"),
    sdist!("markupsafe", ""),
    sdist!("click", ""),
    sdist!("jinja2", "trio"),
    sdist!("packaging", "pretend tomli-w"),
    sdist!("more-itertools", ""),
    sdist!("idna", ""),
    sdist!("wcwidth", ""),
    template!(
        "go",
        "mod-init",
        "go test ./...",
        "go mod init example.com/sample; mkdir greet; printf 'package greet\\n\\nfunc Hello() string { return \"hello\" }\\n' > greet/greet.go; \
         printf 'package greet\\n\\nimport \"testing\"\\n\\nfunc TestHello(t *testing.T) {\\n\\tif Hello() != \"hello\" {\\n\\t\\tt.Fatal()\\n\\t}\\n}\\n' > greet/greet_test.go"
    ),
];
