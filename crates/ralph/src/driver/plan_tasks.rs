//! Part: the tasks of the plan file, read again each time they are asked for, because the agent writes it.

use std::io;

use ralph_core::{
    engine::event::PlanView,
    gate_failure::{GateFailure, OpenTasks},
    plan_file::{self, Task},
    setup::PlanFile,
};

use super::{containment::Containment, site::Site};

/// How far the plan file is; nothing where there is none that can be read.
pub(super) fn view(site: &Site, containment: &Containment) -> Option<PlanView> {
    let tasks = read(site, site.setup.plan_file.as_ref()?, containment).ok()?;
    Some(PlanView { tasks: tasks.len(), open: tasks.iter().filter(|task| task.is_open()).count() })
}

/// Why the plan file does not bear out that everything is done; nothing if it does, or knows no tasks.
pub(super) fn unsettled(site: &Site, containment: &Containment) -> Option<GateFailure> {
    let plan = site.setup.plan_file.as_ref()?;
    let tasks = match read(site, plan, containment) {
        Ok(tasks) => tasks,
        Err(error) => return Some(GateFailure::refused(unreadable(&plan.path, &error))),
    };
    if tasks.is_empty() && site.run().state.had_tasks() {
        return Some(GateFailure::refused(emptied(&plan.path)));
    }
    let open: Vec<&Task> = tasks.iter().filter(|task| task.is_open()).collect();
    (!open.is_empty()).then(|| OpenTasks::of(&plan.path, &open, tasks.len()).into())
}

fn read(
    site: &Site,
    PlanFile { path, specs }: &PlanFile,
    containment: &Containment,
) -> io::Result<Vec<Task>> {
    let text = containment.read_for_agent(&site.setup.project.join(path))?;
    Ok(plan_file::tasks(&String::from_utf8_lossy(&text), specs))
}

fn unreadable(plan: &str, error: &io::Error) -> String {
    format!(
        "You said that the work was complete, but {plan} cannot be read: {error}. Put the plan back, with its tasks."
    )
}

fn emptied(plan: &str) -> String {
    format!(
        "You said that the work was complete, but {plan} had tasks and has none any more. Put them back: what is done \
         as `- [x]`, what no one will do as `- [-]`."
    )
}
