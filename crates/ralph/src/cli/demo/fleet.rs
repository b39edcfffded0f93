//! What is in the repository of `ralph demo --fleet`: four tasks of which two change the same line, and two are green alone
//! and red together.

/// The files of the project, each with its text.
pub(super) const FILES: [(&str, &str); 6] = [
    ("title.txt", "A project\n"),
    ("lib.sh", "hello() { echo \"Hello, $1!\"; }\n"),
    ("use-greeting.sh", ". ./lib.sh\nhello world\n"),
    ("test.sh", TEST),
    ("agent.sh", AGENT),
    (".gitignore", ".ralph/\n"),
];

/// The tasks, each a file.
pub(super) const TASKS: [(&str, &str); 4] = [
    ("owner.md", "Task owner: say in title.txt whose project it is.\n"),
    ("purpose.md", "Task purpose: say in title.txt what the project is.\n"),
    ("rename.md", "Task rename: call the function hello greet.\n"),
    ("farewell.md", "Task farewell: add use-farewell.sh, which says hello first.\n"),
];

const TEST: &str = r#"# The guardrail of the demo: every script works, and no file has conflict markers.
! grep -q '<<<<<<<' title.txt || { echo "title.txt has conflict markers"; exit 1; }
for script in use-*.sh; do
    sh -e "$script" >/dev/null 2>&1 || { echo "$script does not work:"; sh -e "$script" 2>&1; exit 1; }
done
"#;

const AGENT: &str = r#"#!/bin/sh
# A scripted agent: it reads a prompt and does what this file says.
prompt=$(cat)
case "$prompt" in *"commit message"*) echo "Do the task"; exit ;; esac
sleep 0.5
case "$prompt" in
    *"conflicts in: title.txt"*) echo "Both are right."; echo "Ada's greeter" >title.txt ;;
    *"fails on the merged tree"*) echo "The function has another name now."; sed -i 's/^hello/greet/' use-*.sh ;;
    *"Task owner"*) echo "Ada's project" >title.txt ;;
    *"Task purpose"*) echo "A greeter" >title.txt ;;
    *"Task rename"*) sed -i 's/^hello/greet/' lib.sh use-*.sh ;;
    *"Task farewell"*) printf '. ./lib.sh\nhello again\necho "Goodbye!"\n' >use-farewell.sh ;;
esac
echo "<response>DONE</response>"
"#;
