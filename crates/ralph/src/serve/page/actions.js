// What a person can do with a run. Nothing here is shown unless the server was started with --allow.

import {door, post} from "/connection.js";
import {el} from "/dom.js";

/** What fits a run that stands so. */
function fitting(run) {
  if (run.standing === "running" && run.isStopping) return ["stop_now"];
  if (["running", "paused"].includes(run.standing)) return [run.isPausing ? "resume" : "pause", "stop"];
  if (run.standing === "findings") return ["accept", "reject"];
  return ["killed", "limit", "stopped", "interrupted", "gave up"].includes(run.standing) && run.commands.length ? ["resume"] : [];
}

const NAMES = {pause: "Pause", stop: "Stop", stop_now: "Stop now", resume: "Resume", accept: "Accept…", reject: "Send back…"};
const MEANINGS = {
  pause: "after the running turn; Resume continues it", stop: "after the running operation", stop_now: "ends the agent at once",
};

/** The buttons for a run. */
export function buttons(run, notice) {
  if (!door.canAct) return [];
  return fitting(run).map(act => el(`button.act.${act}`, {
    type: "button",
    title: MEANINGS[act] ?? run.commands.find(command => command.includes(` ${act}`)) ?? "",
    onclick: () => begin(act, run, notice),
  }, NAMES[act]));
}

/** The line in which a person says something to the agent. */
export function sayLine(run, notice) {
  if (!door.canAct || !["running", "paused"].includes(run.standing)) return undefined;
  const input = el("input", {id: "say", name: "say", maxlength: 4000, autocomplete: "off", enterkeyhint: "send", placeholder: "Say something to the agent…", "aria-label": "A note for the agent's next turn"});
  return el("form.say", {
    onsubmit: async event => {
      event.preventDefault();
      const text = input.value.trim();
      if (text && await act(run, {act: "say", text}, notice)) input.value = "";
    },
  }, input, el("button.act", {type: "submit"}, "Say"));
}

async function begin(name, run, notice) {
  if (name === "reject") return ask({
    title: "Send it back", text: "The run continues with one more iteration; the agent reads your words.",
    field: {label: "What must be different?", name: "text"}, button: "Send back",
    done: text => act(run, {act: "reject", text}, notice),
  });
  if (name === "accept") return accept(run, notice);
  return act(run, {act: name}, notice);
}

/** The terminal shows a code: whoever accepts has seen it. */
async function accept(run, notice) {
  const answer = await post("/api/act", {run: run.id, act: "accept"}).catch(() => undefined);
  if (answer?.body.code !== "wanted") return notice(answer?.body.text ?? "The server cannot be reached.", "bad");
  return ask({
    title: "Accept the work", text: "The terminal of ralph serve shows a code. Type it here.",
    field: {label: "Code", name: "code", inputmode: "numeric", autocomplete: "one-time-code"}, button: "Accept",
    done: code => act(run, {act: "accept", code}, notice),
  });
}

/** Has it done; returns whether it was. */
async function act(run, body, notice) {
  const answer = await post("/api/act", {run: run.id, ...body}).catch(() => undefined);
  const text = answer?.body.text || (answer?.ok ? "Done." : "The server cannot be reached.");
  notice(text, answer?.ok ? "good" : "bad");
  return answer?.ok ?? false;
}

/** Asks for one line. It stays open until what it asked for worked or the person gives up. */
function ask({title, text, field, button, done}) {
  const input = el(field.name === "text" ? "textarea" : "input", {
    id: "asked", name: field.name, required: true, rows: field.name === "text" ? 4 : undefined, maxlength: 4000,
    inputmode: field.inputmode, autocomplete: field.autocomplete ?? "off",
  });
  const dialog = el("dialog", {onclose: () => dialog.remove(), "aria-labelledby": "ask-title"},
    el("form", {
      method: "dialog",
      onsubmit: async event => {
        event.preventDefault();
        if (await done(input.value.trim())) dialog.close();
        else input.select();
      },
    },
    el("h2", {id: "ask-title"}, title), el("p", {}, text),
    el("label", {for: "asked"}, field.label), input,
    el("p.buttons", {}, el("button.act", {type: "button", onclick: () => dialog.close()}, "Cancel"), el("button.act.main", {type: "submit"}, button))));
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
}
