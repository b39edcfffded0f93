//! An agent that prints the file `stream` two folders up, where there is no C compiler.

use std::{
    fs::File,
    io::{Read, Write, stdout},
};

fn main() -> std::io::Result<()> {
    let mut file = File::open("../../stream")?;
    let mut buffer = vec![0; 65536];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        stdout().write_all(&buffer[..length])?;
    }
}
