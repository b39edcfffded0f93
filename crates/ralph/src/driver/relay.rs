//! Hands the run over from one agent to another: program, environment, hooks and sandbox are those of the agent that
//! has the turn.

use jiff::Timestamp;
use ralph_agents::{Failure, FailureKind};
use ralph_core::{
    engine::{
        event::{Event, Turn, TurnEnd, TurnEnded},
        roles::{AgentRole, TurnOf},
    },
    setup::Setup,
};

use super::{Driver, access, agent::Agent, containment::Containment, site::Site, start::find_agent};

impl Driver {
    /// Makes this agent the one that is started next. Returns why it cannot be.
    pub(super) fn hand_to(&mut self, name: Option<&str>) -> Result<(), String> {
        let Some(name) = name.filter(|name| self.holder.as_deref() != Some(*name)) else { return Ok(()) };
        let Self { site, agent, containment, .. } = self;
        take_seat(site, Some(name));
        // Until all is well no agent has it.
        self.holder = None;
        let program = find_agent(&site.setup).map_err(|error| error.to_string())?;
        if containment.is_there() {
            containment.finish(site);
            *containment = Containment::prepare_again(site, &program)
                .map_err(|error| format!("its sandbox cannot be prepared: {error}"))?;
        }
        agent.finish();
        *agent = Agent::new(program, site);
        self.holder = Some(name.to_owned());
        Ok(())
    }

    /// Hands over to the agent that words commit messages, where that is another one.
    pub(super) fn hand_to_wording(&mut self) {
        let run = self.site.run();
        if run.plan.roles.message.is_empty() {
            return;
        }
        let now = Timestamp::now().as_millisecond();
        let choice = run.state.crew().choose(&run.plan.roles, AgentRole::Message, now);
        let Some(TurnOf::Agent(chosen)) = choice else { return };
        let worker = self.holder.clone();
        if self.hand_to(Some(&chosen.agent)).is_err() {
            // Who did the work can word it, too.
            let _ = self.hand_to(worker.as_deref());
        }
    }

    /// Records a turn of an agent that could not be started at all: the rules say who has it then.
    pub(super) fn refuse_turn(&mut self, turn: Turn, message: String) {
        self.site.ledger.record(Event::TurnStarted(turn));
        let failure = Failure { kind: FailureKind::Permanent, message };
        self.site.ledger.record(Event::TurnEnded(Box::new(TurnEnded::new(TurnEnd::Failed(failure)))));
    }
}

/// Makes the setup that of this agent: what the run started with, and whom this one talks to.
pub(super) fn take_seat(site: &mut Site, name: Option<&str>) {
    let Setup { agent, sandbox, .. } = &site.run().started.setup;
    let agent = name.and_then(|name| site.setup.agents.get(name)).unwrap_or(agent).clone();
    let adapter = ralph_agents::adapter(&agent.command).name();
    let sandbox = access::open_servers(sandbox.clone().for_agent(adapter), adapter, &agent.env);
    (site.setup.agent, site.setup.sandbox) = (agent, sandbox);
}
