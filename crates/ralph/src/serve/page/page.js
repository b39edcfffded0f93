// The page: the list, what is open, keys, and what is said at the bottom.

import {Link, begin, door} from "/connection.js";
import {dollars, el, facts, put} from "/dom.js";
import {showList} from "/list.js";
import {RunView} from "/run.js";

const [nav, main, status] = ["runs", "detail", "link"].map(id => document.getElementById(id));
let data = {runs: [], fleets: []};
let selected;
let view;

/** Says something for a moment, at the bottom. */
function notice(text, tone) {
  document.querySelector(".toast")?.remove();
  const toast = el(`p.toast.${tone}`, {role: "status"}, text);
  document.body.append(toast);
  setTimeout(() => toast.remove(), 6000);
}

const link = new Link({
  connected: () => say(door.canAct ? "live" : "live, read-only", "good"),
  lost: () => say("reconnecting…", "warn"),
  locked: text => {
    say("locked", "bad");
    put(main, `locked ${text}`, () => el("div.notice", {}, el("h2", {}, "Open the link"), el("p", {}, text || "Open the link that `ralph serve` printed in this browser.")));
    document.body.classList.add("open");
  },
  runs: list => {
    data = list;
    refreshList();
    const fleet = data.fleets.find(it => it.id === selected);
    if (fleet) showFleet(fleet);
    // On a wide screen something is open from the start.
    if (!selected && data.runs.length && matchMedia("(min-width: 900px)").matches) open(data.runs[0].id, false);
  },
  begin: start => view?.begin(start),
  model: run => run.id === selected && view?.show(run),
  lines: lines => view?.add(lines),
});

function say(words, tone) {
  status.textContent = words;
  status.className = `link ${tone}`;
  status.title = door.why ?? "";
}

function refreshList() {
  showList(nav, data, selected, id => open(id, true));
}

/** Shows a run or a fleet. */
function open(id, isAsked) {
  selected = id;
  if (isAsked) {
    document.body.classList.add("open");
    history.pushState({id}, "");
  } else history.replaceState({}, "");
  refreshList();
  main.dataset.shown = "";
  const fleet = data.fleets.find(it => it.id === id);
  view = fleet ? undefined : new RunView(main, id, notice);
  if (fleet) showFleet(fleet);
  link.follow(fleet ? undefined : id);
  if (isAsked) main.focus({preventScroll: true});
}

function close() {
  document.body.classList.remove("open");
  document.title = "ralph";
  nav.querySelector(`[data-id="${CSS.escape(selected ?? "")}"]`)?.focus();
}

function showFleet(fleet) {
  put(main, JSON.stringify(fleet), () => [
    el("div.head", {}, el("h2.asked", {}, `Fleet: ${fleet.landed} of ${fleet.items.length} landed`),
      el("p.facts", {}, facts(fleet.project, fleet.target, fleet.standing, dollars(fleet.cost || undefined), `${fleet.lanes} lanes`)),
      fleet.attention && el("p.banner.warn", {}, el("strong", {}, "Needs you: "), fleet.attention)),
    el("div.panel", {}, el("ul.tasks", {}, fleet.items.map(item => el(`li.${{landed: "done", failed: "sentBack", refused: "sentBack"}[item.phase] ?? item.phase}${item.lane ? ".current" : ""}`, {},
      el("i.box", {"aria-hidden": "true"}), el("span.title", {}, el("b", {}, item.id, " "), item.title, item.detail && el("span.quiet", {}, ` ${item.detail}`)),
      el("span.tag", {}, facts(item.phase, item.lane)))))),
  ]);
}

addEventListener("popstate", event => (event.state?.id ? open(event.state.id, false) : close()));
document.getElementById("home").addEventListener("click", event => {
  event.preventDefault();
  close();
});

const KEYS = [["↑ ↓ or k j", "choose a run"], ["Enter", "open it"], ["Esc", "back to the list"], ["1 – 6", "the tabs"], ["/", "search the stream"], ["s", "say something to the agent"], ["?", "this list"]];

function help() {
  const dialog = el("dialog", {onclose: () => dialog.remove()}, el("h2", {}, "Keys"),
    el("dl.keys", {}, KEYS.map(([keys, words]) => [el("dt", {}, keys), el("dd", {}, words)]).flat()),
    el("p.quiet", {}, door.canAct ? "Actions are on: ralph does on that machine what you press." : door.why),
    el("p.quiet", {}, `ralph ${door.version}`),
    el("p.buttons", {}, el("button.act.main", {type: "button", onclick: () => dialog.close()}, "Close")));
  document.body.append(dialog);
  dialog.showModal();
}
document.getElementById("help-button").addEventListener("click", help);

function move(step) {
  const cards = [...nav.querySelectorAll(".card")];
  const at = cards.findIndex(card => card === document.activeElement);
  const from = at < 0 ? cards.findIndex(card => card.dataset.id === selected) - (step > 0 ? 1 : -1) : at;
  cards[Math.max(0, Math.min(cards.length - 1, from + step))]?.focus();
}

addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const isTyping = event.target.matches?.("input, textarea");
  if (isTyping && event.key !== "Escape") return;
  const tab = Number(event.key) - 1;
  if (event.key === "Escape") isTyping ? event.target.blur() : close();
  else if (event.key === "ArrowDown" || event.key === "j") move(1);
  else if (event.key === "ArrowUp" || event.key === "k") move(-1);
  else if (event.key === "?") help();
  else if (event.key === "/" && view) {
    view.select("now");
    view.search.focus();
  } else if (event.key === "s" && document.getElementById("say")) document.getElementById("say").focus();
  else if (view && tab >= 0 && view.available()[tab]) view.select(view.available()[tab][0]);
  else return;
  event.preventDefault();
});

await begin();
link.open();
