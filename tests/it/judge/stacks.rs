//! Real projects of common languages, judged without any settings, from what their files and their working tree say.

use serde_json::Value;

use super::{commit, judge_with, missing, printed, project};
use crate::env::skip;

/// A project, and how its code is right and wrong.
struct Stack {
    /// All of them must be installed.
    programs: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    /// What its user typed once in the working tree.
    install: &'static str,
    guardrail: &'static str,
    /// The file whose content decides.
    code: &'static str,
    right: &'static str,
    wrong: &'static str,
    /// What the judge installs by itself.
    prepared: &'static [&'static str],
}

/// Whether the stack can be tried here; says so if not. Where the whole check runs, those that it can install must be.
fn can_try(stack: &Stack) -> bool {
    let absent: Vec<_> = stack.programs.iter().filter(|program| which::which(program).is_err()).collect();
    let is_required = std::env::var("CI").as_deref() == Ok("true");
    assert!(absent.is_empty() || !is_required, "CI has no {absent:?}");
    if !absent.is_empty() {
        skip(&format!("{absent:?} is not installed"));
    }
    absent.is_empty()
}

/// Judges a stack: right and wrong code, cold and warm, with the working tree saying the opposite.
#[track_caller]
fn check(stack: &Stack) {
    if !can_try(stack) {
        return;
    }
    let env = project();
    for (name, text) in stack.files {
        env.write(name, text);
    }
    env.write(stack.code, stack.right);
    let installed = env.sh(stack.install);
    assert_eq!(installed.code, Some(0), "{}{}", installed.stdout, installed.stderr);
    commit(&env);
    let first = judge_with(&env, &[], stack.guardrail, 0);
    assert_eq!(ends(&first), stack.prepared.iter().map(|_| "done").collect::<Vec<_>>(), "{first}");
    let commands: Vec<&str> =
        steps(&first).map(|step| step["command"].as_str().expect("a command")).collect();
    assert!(
        commands.iter().zip(stack.prepared).all(|(command, begin)| command.starts_with(begin)),
        "{commands:?}"
    );
    assert_eq!(first["guardrails"][0]["proof"], "proven", "{first}");

    // The second time nothing is installed.
    let second = judge_with(&env, &[], stack.guardrail, 0);
    assert_eq!(ends(&second), stack.prepared.iter().map(|_| "up-to-date").collect::<Vec<_>>(), "{second}");

    // Wrong code is committed, and right in the working tree: the judge must not see the working tree.
    env.write(stack.code, stack.wrong);
    commit(&env);
    env.write(stack.code, stack.right);
    let third = judge_with(&env, &[], stack.guardrail, 3);
    assert_eq!(third["guardrails"][0]["inPlace"]["passed"], true, "{third}");
    assert!(missing(&third).contains(stack.code), "{third}");

    // The other way round.
    commit(&env);
    env.write(stack.code, stack.wrong);
    let fourth = judge_with(&env, &[], stack.guardrail, 0);
    assert_eq!(fourth["guardrails"][0]["inPlace"]["passed"], false, "{fourth}");
    assert_eq!(ends(&fourth), ends(&second), "{fourth}");
}

fn steps(found: &Value) -> impl Iterator<Item = &Value> {
    found["prepared"].as_array().into_iter().flatten()
}

fn ends(found: &Value) -> Vec<&str> {
    steps(found).map(|step| step["end"].as_str().expect("an end")).collect()
}

/// Builds an editable install without anything from elsewhere.
const BACKEND: &str = r#"
import base64, hashlib, os, zipfile

NAME = "demo-1.0.dist-info"

def get_requires_for_build_editable(config=None):
    return []

def build_editable(folder, config=None, metadata=None):
    files = {
        "demo.pth": os.path.join(os.getcwd(), "src") + "\n",
        NAME + "/METADATA": "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
        NAME + "/WHEEL": "Wheel-Version: 1.0\nGenerator: demo\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        NAME + "/entry_points.txt": "[console_scripts]\ndemo-check = demo.check:main\n",
    }
    name = "demo-1.0-py3-none-any.whl"
    record = ""
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(text)}\n"
        wheel.writestr(NAME + "/RECORD", record + NAME + "/RECORD,,\n")
    return name
"#;

#[test]
fn python_with_an_editable_install_in_a_virtual_environment() {
    check(&Stack {
        programs: &["python3"],
        files: &[
            (
                "pyproject.toml",
                "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n\n[project]\nname = \"demo\"\nversion = \"1.0\"\n",
            ),
            ("backend.py", BACKEND),
            (".gitignore", ".venv/\n__pycache__/\n"),
            ("src/demo/__init__.py", ""),
            (
                "src/demo/check.py",
                "import sys\nfrom demo.answer import ANSWER\n\ndef main():\n    print(__file__)\n    sys.exit(ANSWER != 42)\n",
            ),
        ],
        install: "python3 -m venv .venv && .venv/bin/pip install --quiet -e .",
        // A script of the environment, whose first line has an absolute path.
        guardrail: ".venv/bin/demo-check",
        code: "src/demo/answer.py",
        right: "ANSWER = 42\n",
        // Of another length: two versions of one second and one length are the same to Python.
        wrong: "ANSWER = 410\n",
        prepared: &["/"],
    });
}

#[test]
fn node_with_node_modules() {
    check(&Stack {
        programs: &["node", "npm"],
        files: &[
            (
                "package.json",
                r#"{"name": "demo", "version": "1.0.0", "scripts": {"test": "run-tests"}, "devDependencies": {"runner": "file:runner"}}"#,
            ),
            (
                "runner/package.json",
                r#"{"name": "runner", "version": "1.0.0", "bin": {"run-tests": "cli.js"}}"#,
            ),
            (
                "runner/cli.js",
                "#!/usr/bin/env node\nif (require(process.cwd() + '/answer.js') !== 42) process.exit(1);\n",
            ),
            (".gitignore", "node_modules\n"),
        ],
        install: "npm install --offline --no-audit --no-fund",
        guardrail: "npm test",
        code: "answer.js",
        right: "module.exports = 42;\n",
        wrong: "module.exports = 41;\n",
        prepared: &["npm ci"],
    });
}

#[test]
fn a_rust_workspace() {
    check(&Stack {
        programs: &["cargo"],
        files: &[
            ("Cargo.toml", "[workspace]\nmembers = [\"app\", \"answer\"]\nresolver = \"2\"\n"),
            (
                "app/Cargo.toml",
                "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nanswer = { path = \"../answer\" }\n",
            ),
            ("app/src/lib.rs", "#[test]\nfn right() {\n    assert_eq!(answer::ANSWER, 42);\n}\n"),
            ("answer/Cargo.toml", "[package]\nname = \"answer\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            (".gitignore", "target\n"),
        ],
        install: "cargo generate-lockfile --offline",
        guardrail: "cargo test --workspace --offline --quiet",
        code: "answer/src/lib.rs",
        right: "pub const ANSWER: u32 = 42;\n",
        wrong: "pub const ANSWER: u32 = 41;\n",
        prepared: &[],
    });
}

#[test]
fn a_go_module() {
    check(&Stack {
        programs: &["go"],
        files: &[
            ("go.mod", "module demo\n\ngo 1.19\n"),
            (
                "answer_test.go",
                "package demo\n\nimport \"testing\"\n\nfunc TestAnswer(t *testing.T) {\n\tif Answer != 42 {\n\t\tt.Fatal(Answer)\n\t}\n}\n",
            ),
        ],
        install: "true",
        guardrail: "GOFLAGS=-mod=mod GOPROXY=off go test ./...",
        code: "answer.go",
        right: "package demo\n\nconst Answer = 42\n",
        wrong: "package demo\n\nconst Answer = 41\n",
        prepared: &[],
    });
}

/// What Debian has of Maven's plugins: tests use no network.
const MAVEN_REPOSITORY: &str = "/usr/share/maven-repo/org/apache/maven/plugins/maven-surefire-plugin";

#[test]
fn a_maven_project() {
    if !std::path::Path::new(MAVEN_REPOSITORY).exists() {
        return skip("the plugins of Maven are not installed");
    }
    check(&Stack {
        programs: &["mvn", "javac"],
        files: &[
            (
                "pom.xml",
                r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>x</groupId><artifactId>demo</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency>
  </dependencies>
</project>
"#,
            ),
            (
                "src/test/java/AnswerTest.java",
                "import org.junit.Test;\nimport static org.junit.Assert.*;\n\npublic class AnswerTest {\n    @Test public void right() { assertEquals(42, Answer.answer()); }\n}\n",
            ),
            (".gitignore", "target\n"),
        ],
        install: "mkdir -p $HOME/.m2 && cp -as /usr/share/maven-repo $HOME/.m2/repository",
        guardrail: "mvn --offline --quiet --batch-mode -Duser.home=$HOME test",
        code: "src/main/java/Answer.java",
        right: "public class Answer {\n    public static int answer() { return 42; }\n}\n",
        wrong: "public class Answer {\n    public static int answer() { return 41; }\n}\n",
        prepared: &[],
    });
}

#[test]
fn a_ruby_project() {
    check(&Stack {
        programs: &["ruby", "bundle"],
        files: &[
            ("Gemfile", "gem \"minitest\"\n"),
            (
                "test.rb",
                "require \"minitest/autorun\"\nrequire_relative \"answer\"\n\nclass AnswerTest < Minitest::Test\n  def test_answer\n    assert_equal 42, ANSWER\n  end\nend\n",
            ),
        ],
        install: "bundle install --local --quiet",
        guardrail: "bundle exec ruby test.rb",
        code: "answer.rb",
        right: "ANSWER = 42\n",
        wrong: "ANSWER = 41\n",
        prepared: &["bundle check"],
    });
}

#[test]
fn a_make_project() {
    check(&Stack {
        programs: &["make", "cc"],
        files: &[
            (
                "Makefile",
                "test: build/check\n\t./build/check\n\nbuild/check: check.c answer.h\n\tmkdir -p build\n\tcc -o build/check check.c\n",
            ),
            ("check.c", "#include \"answer.h\"\nint main(void) { return ANSWER == 42 ? 0 : 1; }\n"),
            (".gitignore", "build/\n"),
        ],
        install: "true",
        guardrail: "make test",
        code: "answer.h",
        right: "#define ANSWER 42\n",
        wrong: "#define ANSWER 41\n",
        prepared: &[],
    });
}

#[test]
fn what_was_built_is_used_again() {
    let env = project();
    env.write(
        "Makefile",
        "test: build/x\n\ttest -e build/x\n\nbuild/x: a\n\tmkdir -p build && touch build/x && echo built\n",
    );
    env.write(".gitignore", "build/\n");
    commit(&env);
    let flags = ["--judge-only"];
    assert!(printed(&judge_with(&env, &flags, "make test", 0)).contains("built"));
    assert!(!printed(&judge_with(&env, &flags, "make test", 0)).contains("built"));
    // A file that did not change keeps its time, one that did does not.
    env.write("b", "");
    commit(&env);
    assert!(!printed(&judge_with(&env, &flags, "make test", 0)).contains("built"));
    env.write("a", "changed\n");
    commit(&env);
    assert!(printed(&judge_with(&env, &flags, "make test", 0)).contains("built"));
}
