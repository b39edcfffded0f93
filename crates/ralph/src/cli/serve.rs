//! `ralph serve`: the runs of this user as a page in a browser.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;
use ralph_core::serve_access::Actions;
use ralph_sys::error::Result;

use super::{persons_command::refuse_inside_run, print, session::bound_to, warn};
use crate::{
    report::streams::say,
    serve::{Options, Serving},
};

/// The port that is taken where no other is named.
const PORT: u16 = 7337;

/// Show your runs live on a web page
///
/// Prints a link for your browser. The page shows every run, those that need you first: the agent's stream, the
/// guardrails over time, stories or lanes, the diff, spend and findings. It can act only with --allow. From another
/// machine or a phone, use a tunnel: ssh -L 7337:127.0.0.1:7337 HOST
///
/// Example: ralph serve --allow
#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    /// The address and port to listen on, or only a port of 127.0.0.1; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value_t = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT), value_parser = address)]
    listen: SocketAddr,

    /// Let the page act: say, pause, stop, resume, reject; accept only with a code that this terminal shows
    #[arg(long)]
    allow: bool,

    /// Also accept this host name: the name of a TLS proxy on this machine in front of a loopback address
    #[arg(long, value_name = "NAME")]
    proxied_as: Vec<String>,
}

/// Serves until it is interrupted.
pub(super) fn main(args: &ServeArgs) -> Result<u8> {
    // An agent that had a page of its own could accept its own work: the code would be in its own terminal.
    refuse_inside_run("serve")?;
    ralph_sandbox::refuse_inside()?;
    let options = Options {
        listen: args.listen,
        names: args.proxied_as.clone(),
        wants_actions: args.allow,
        is_bound: |run| bound_to(run).is_some(),
        tell: say,
    };
    let serving = Serving::begin(options)?;
    let (address, actions) = serving.place()?;
    if !address.ip().is_loopback() {
        warn(&format!(
            "everyone who can reach {address} can try the link, and everyone on the way can read what is shown: there is no TLS"
        ));
    }
    let acts = match actions {
        Actions::Allowed => "It can act.",
        Actions::NotAllowed => "It only shows; --allow lets it act.",
        Actions::NoTls => "It only shows: over a network without TLS there are no actions.",
    };
    print(&format!("http://{}/#token={}\n", shown(address), serving.token()))?;
    say(&format!("Open this link in a browser. {acts} Ctrl-C ends it.\n"));
    serving.run()?;
    Ok(0)
}

/// An address as a link names it; a browser cannot go to "everywhere".
fn shown(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
    } else {
        address
    }
}

/// Reads an address with its port, or a port alone.
fn address(text: &str) -> std::result::Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().map_err(|_| "an address and a port, such as 127.0.0.1:7337".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_of_this_machine() {
        for (text, expected) in [("80", "127.0.0.1:80"), ("0.0.0.0:0", "0.0.0.0:0"), ("[::1]:7", "[::1]:7")] {
            assert_eq!(address(text).map(|it| it.to_string()).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", "localhost", "localhost:80", "1.2.3.4", "99999", ":80"] {
            assert!(address(text).is_err(), "{text}");
        }
        assert_eq!(shown("0.0.0.0:5".parse().expect("an address")).to_string(), "127.0.0.1:5");
    }
}
