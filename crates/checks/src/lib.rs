//! Reads what judges a program, so that two versions of it can be compared: the tests in its files, and the counts that
//! test runners print.
//!
//! ```
//! use ralph_checks::{
//!     counts::read_output,
//!     test_files::compare::{Versions, compare},
//! };
//!
//! let old = "def test_add():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n";
//! let new = "def test_add():\n    assert add(1, 2) == 3\n";
//! let files = [Versions { path: "tests/test_add.py", old: Some(old), new: Some(new) }];
//! assert!(compare(&files).worse.contains_key("tests/test_add.py"));
//!
//! let printed = "running 4 tests\n...i\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n";
//! let report = read_output(printed.as_bytes());
//! assert_eq!(report.total().map(|counts| (counts.passed, counts.skipped)), Some((3, 1)));
//! ```
//!
//! Values in, values out: nothing is run, and no file, variable or clock is read. Readers never fail and take time in
//! proportion to what they read.

#![forbid(unsafe_code)]

pub mod ci;
pub mod counts;
pub mod glob;
pub mod leads;
pub mod manifest;
pub mod misfit;
pub mod protected;
pub mod test_files;

/// The examples in the readme work.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
