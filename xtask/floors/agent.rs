//! The least that an agent can do, where there is no C compiler: one line.

fn main() {
    println!("hello");
}
