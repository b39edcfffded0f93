//! Machines with networks of their own: a namespace each, with a link to a hub that is taken down and up again.
//!
//! Nothing here touches the network of this machine. A namespace ends with its last process, and its links with it; the
//! process that holds it ends when its input does, so a test that is killed leaves nothing.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    os::fd::AsFd,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::{Field, go, together::diamond, waiting};
use crate::{
    env::{Running, lacks, poll, skip},
    fleet::{WORKER, board::faults::agent_of, project},
    stories::story,
};

/// A connection that is not made by then is not made.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(300);

/// A network namespace, as long as this lives.
struct Space {
    holder: Child,
    namespace: File,
}

impl Space {
    /// An error says why there is none.
    fn new() -> Result<Self, String> {
        let mut holder = Command::new("unshare")
            .args(["--net", "sh", "-c", "echo held; read -r _"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("unshare: {error}"))?;
        let mut said = String::new();
        let stdout = holder.stdout.take().expect("an output");
        BufReader::new(stdout).read_line(&mut said).expect("a line");
        if said != "held\n" {
            let mut why = String::new();
            let _ = holder.stderr.take().expect("an output").read_to_string(&mut why);
            let _ = holder.wait();
            return Err(why);
        }
        let namespace = File::open(format!("/proc/{}/ns/net", holder.id())).expect("a namespace");
        Ok(Self { holder, namespace })
    }

    /// Does something in it: a thread has a network of its own, and what it starts is there as well.
    fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let inside = || {
            move_into_link_name_space(self.namespace.as_fd(), Some(LinkNameSpaceType::Network))
                .expect("a namespace to go to");
            work()
        };
        thread::scope(|scope| scope.spawn(inside).join())
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Calls `ip` in it.
    fn ip(&self, words: &str) -> Result<(), String> {
        let output = self.inside(|| Command::new("ip").args(words.split(' ')).output());
        let output = output.map_err(|error| format!("ip: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("ip {words}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// A hub, and machines with a link to it each, counted from 1.
struct Network {
    hub: Space,
    machines: Vec<Space>,
}

impl Network {
    /// Nothing, and a word about it, where that cannot be.
    fn new(machines: usize) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            skip("only root can make networks");
            return None;
        }
        let hub = match Space::new() {
            Ok(hub) => hub,
            Err(why) => {
                skip(&format!("this machine has no network namespaces: {}", why.trim()));
                return None;
            }
        };
        if Command::new("ip").arg("-Version").output().is_err() {
            lacks("there is no `ip`: cargo xtask ci --install, or apt-get install iproute2");
            return None;
        }
        if let Err(why) = hub.ip("link add there type veth peer name back") {
            skip(&format!("this machine has no virtual links: {}", why.trim()));
            return None;
        }
        let mut network = Self { hub, machines: Vec::new() };
        network.hub.ip("link set lo up").expect("loopback");
        for _ in 0..machines {
            network.add().expect("a machine");
        }
        Some(network)
    }

    fn add(&mut self) -> Result<(), String> {
        let (number, machine) = (self.machines.len() + 1, Space::new()?);
        let pid = machine.holder.id();
        self.hub.ip(&format!("link add w{number} type veth peer name hub netns {pid}"))?;
        self.hub.ip(&format!("addr add {}/24 dev w{number}", Self::address(number)))?;
        self.hub.ip(&format!("link set w{number} up"))?;
        machine.ip("link set lo up")?;
        machine.ip(&format!("addr add 10.77.{number}.2/24 dev hub"))?;
        machine.ip("link set hub up")?;
        self.machines.push(machine);
        Ok(())
    }

    /// The hub as a machine sees it.
    fn address(machine: usize) -> Ipv4Addr {
        Ipv4Addr::new(10, 77, u8::try_from(machine).expect("a small number"), 1)
    }

    fn take_down(&self, machine: usize) {
        self.hub.ip(&format!("link set w{machine} down")).expect("a link");
    }

    fn take_up(&self, machine: usize) {
        self.hub.ip(&format!("link set w{machine} up")).expect("a link");
    }

    /// Whether a machine reaches the board from where it is.
    fn reaches(&self, machine: usize, field: &Field) -> bool {
        let address = SocketAddr::new(Self::address(machine).into(), field.server.port);
        let connect = || TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_ok();
        self.machines[machine - 1].inside(connect)
    }

    fn start_worker(&self, number: usize, field: &Field) -> Running {
        let url = format!("nats://{}:{}", Self::address(number), field.server.port);
        let start = || field.machine(number).start_command(&mut field.worker_at(number, &url));
        let running = self.machines[number - 1].inside(start);
        running.await_saying("takes items from");
        running
    }
}

/// A field whose board is on the hub, where its caller is.
fn field(stories: &[(serde_json::Value, &str)], check: &str, machines: usize) -> Option<Field> {
    let env = project(stories, check);
    Field::listening(Ipv4Addr::UNSPECIFIED, env, check, machines, ("worker", WORKER))
}

#[test]
fn a_worker_whose_link_is_down_beyond_its_lease_is_fenced() {
    let Some(network) = Network::new(2) else { return };
    network.hub.inside(|| {
        let work = waiting("A");
        let Some(field) = field(&[(story("A"), &work)], "true", 2) else { return };
        let fleet = field.start_fleet();
        let first = network.start_worker(1, &field);
        let agent = agent_of(&field, "A", "w1");
        network.take_down(1);
        assert!(!network.reaches(1, &field), "it is cut off");
        poll("the link of the other", || network.reaches(2, &field).then_some(()));
        let second = network.start_worker(2, &field);
        let other = agent_of(&field, "A", "w2");
        assert!(!super::faults::is_gone(agent), "no one has told it");
        assert_eq!(field.log("A"), ["posted lander", "claimed w1", "claimed w2"]);
        network.take_up(1);
        poll("the link", || network.reaches(1, &field).then_some(()));
        first.await_saying("A belongs to another worker by now");
        poll("the end of its agent", || super::faults::is_gone(agent).then_some(()));
        assert!(!super::faults::is_gone(other), "the successor goes on");
        go(&field.env, "A");
        field.finishes(fleet, 1);
        let log = ["posted lander", "claimed w1", "claimed w2", "done w2", "merged lander"];
        assert_eq!(field.log("A"), log);
        field.ends(1, first);
        field.ends(2, second);
    });
}

#[test]
fn ten_stories_land_from_three_machines_with_networks_of_their_own() {
    let Some(network) = Network::new(3) else { return };
    network.hub.inside(|| {
        diamond(|all, check| field(all, check, 3), |field, number| network.start_worker(number, field));
    });
}
