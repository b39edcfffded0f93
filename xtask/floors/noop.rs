//! The least that a program can do, where there is no C compiler.

fn main() {}
