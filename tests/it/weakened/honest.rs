//! Work that changes tests as people do: no question, and exit code 0.

use serde_json::{Value, json};

use super::{CART, TESTS, found, turns, unittest};
use crate::env::{Env, done, shell, write};

/// What a turn does, and a word of the note about it.
#[track_caller]
fn check(turn: Value, note: &str) {
    let env = unittest(json!([[turn, done()]]));
    env.run(&[]).exits(0);
    assert!(found(&env).is_empty());
    assert_eq!(turns(&env), 1);
    let notes = env.status()["notes"].to_string();
    assert!(notes.contains(note), "{notes}");
}

#[test]
fn renamed_tests() {
    check(shell("sed -i 's/test_sum/test_sum_of_items/' test_cart.py"), "old-checks-pass");
    check(shell("git mv test_cart.py test_basket.py"), "old-checks-pass");
}

#[test]
fn tests_that_change_with_the_code() {
    check(shell("sed -i 's/total/sum_of/g' test_cart.py cart.py"), "not-comparable");
}

#[test]
fn new_tests() {
    let more = format!("{TESTS}\n    def test_more(self):\n        self.assertEqual(total([7]), 7)\n");
    check(write("test_cart.py", &more), "[]");
    check(write("test_more.py", &more.replace("class Cart", "class More")), "");
}

#[test]
fn nothing_that_judges_costs_one_comparison() {
    let env = unittest(json!([[write("cart.py", &format!("{CART}\n\nX = 1\n")), done()]]));
    env.run(&[]).exits(0);
    assert!(env.events("old_check_started").is_empty());
    assert_eq!(env.events("examined").len(), 1);
    assert_eq!(env.status()["notes"], json!([]));
}

#[test]
fn files_of_the_user_that_were_not_committed_are_not_the_agents() {
    let env = unittest(json!([[write("cart.py", &format!("{CART}\n\nX = 1\n")), done()]]));
    env.write("test_cart.py", &TESTS.replace("        self.assertEqual(total([5]), 5)\n", ""));
    env.run(&[]).exits(0);
    assert!(found(&env).is_empty());
    assert_eq!(turns(&env), 1);
}

#[test]
fn tests_that_go_with_what_they_tested() {
    let env = super::project(
        &["python3 -B -m unittest -q"],
        json!([[shell("git rm -q basket.py test_basket.py"), done()]]),
    );
    env.write("basket.py", "def size(items):\n    return len(items)\n");
    let test = "import unittest\nfrom basket import size\n\nclass Basket(unittest.TestCase):\n    def test_size(self):\n        self.assertEqual(size([1]), 1)\n";
    env.write("test_basket.py", test);
    env.commit_all();
    env.run(&[]).exits(0);
    assert!(env.status()["findings"].as_array().is_some_and(Vec::is_empty), "that fewer ran, too");
    assert!(env.status()["notes"].to_string().contains("what they tested is gone"));
}

#[test]
fn tests_among_the_code_of_a_crate_that_change_with_it() {
    let lib = "pub fn total(items: &[u32]) -> u32 {\n    items.iter().sum()\n}\n\n#[cfg(test)]\nmod tests {\n    use super::total;\n\n    #[test]\n    fn sums() {\n        assert_eq!(total(&[1, 2]), 3);\n    }\n}\n";
    for new in [
        lib.replace("total", "sum_of"),
        lib.replace("u32]) ->", "u32], tax: u32) ->").replace("2]), 3", "2], 0), 3"),
    ] {
        let env = Env::new().with_git().commits().guardrails(&["cargo test --offline --quiet"]);
        let env = env.turns(json!([[write("src/lib.rs", &new), done()]]));
        env.write("Cargo.toml", "[package]\nname = \"cart\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
        env.write("src/lib.rs", lib);
        env.write(".gitignore", "target\nCargo.lock\n");
        env.commit_all();
        env.run(&[]).exits(0);
        assert!(found(&env).is_empty());
        assert!(env.status()["notes"].to_string().contains("not-comparable"), "{}", env.status()["notes"]);
    }
}
