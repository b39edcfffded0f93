//! The same on a board as `ralph fleet board` starts it: TLS, keys, an account for each worker.

use std::{net::TcpListener, path::Path};

use super::{Field, program};
use crate::{
    env::{RALPH, Running},
    stories::story,
};

#[test]
fn a_fleet_and_its_workers_need_nothing_but_their_logins() {
    let all = [(story("A"), "echo A >A.txt\n"), (super::super::after("B", &["A"]), "echo B >B.txt\n")];
    let Some(field) = Field::new(&all, "true", 1) else { return };
    let Some(server) = program() else { return };
    let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").port();
    let mut command = field.env.command(RALPH);
    command.args(["fleet", "board", "--host", "127.0.0.1", "--worker", "w1", "--listen"]);
    let board = field.env.start_command(command.arg(format!("127.0.0.1:{port}")).arg("--server").arg(server));
    board.await_printing("ralph fleet --login");
    let logins = field.env.root().join("state/board/logins");
    let (fleet, worker) = start_with_logins(&field, &logins);
    field.finishes(fleet, 2);
    field.ends(1, worker);
    board.signal(rustix::process::Signal::TERM);
    board.wait().exits(0);
    field.env.nothing_left();
}

/// A fleet and its first worker, with the logins that `ralph fleet board` wrote for them.
pub(super) fn start_with_logins(field: &Field, logins: &Path) -> (Running, Running) {
    let mut command = field.env.command(RALPH);
    let fleet = field.env.start_command(command.args(["fleet", "--login"]).arg(logins.join("lander")));
    fleet.await_saying("landing on main");
    // With nothing of the open board.
    field.worker(1);
    let mut command = field.machine(1).command(RALPH);
    command.args(["fleet", "work", "--login"]).arg(logins.join("w1"));
    command.env("FLEET_RECORD", field.env.root().join("record")).env("WHO", "w1");
    let worker = field.machine(1).start_command(&mut command);
    (fleet, worker)
}
