// The list of runs and fleets: what needs a person first, then what is at work, then the rest.

import {base, dollars, el, facts, plural, put, running, since} from "/dom.js";

/** Words for what a run needs of a person. */
export function attention(need) {
  switch (need?.kind) {
    case "decide": return `${plural(need.findings, "finding")} to accept or reject`;
    case "unblock": return need.why || "it waits for you";
    case "goOn": return {killed: "it was killed", limit: "a limit is reached"}[need.standing] ?? need.standing;
    default: return typeof need === "string" ? need : "";
  }
}

/** The colour of a standing. */
export function tone(standing, need) {
  if (need) return standing === "findings" || standing === "stopped" ? "warn" : "bad";
  return {running: "live", paused: "warn", pausing: "warn", complete: "good", findings: "warn", "gave up": "bad", unready: "bad"}[standing] ?? "none";
}

export function pill(standing, need) {
  return el(`span.pill.${tone(standing, need)}`, {}, standing);
}

/** A dot for each gate, as it was last. */
export function dots(gates) {
  if (!gates?.length) return undefined;
  const words = gates.map(gate => `${gate.name}: ${words_of(gate.last)}`).join("\n");
  return el("span.dots", {title: words, role: "img", "aria-label": words}, gates.map(gate => el(`i.dot.${gate.last}`)));
}

export function words_of(dot) {
  return {passed: "passed", failed: "failed", failedInJudge: "failed in a clean clone", running: "running", unchecked: "not checked"}[dot] ?? dot;
}

/** Shows the list. */
export function showList(nav, data, selected, open) {
  const atWork = it => ["running", "paused"].includes(it.standing);
  const groups = [
    ["Needs you", [...data.fleets.filter(it => it.attention), ...data.runs.filter(it => it.attention)]],
    ["At work", [...data.fleets.filter(it => !it.attention && it.isRunning), ...data.runs.filter(it => !it.attention && atWork(it))]],
    ["Earlier", [...data.fleets.filter(it => !it.attention && !it.isRunning), ...data.runs.filter(it => !it.attention && !atWork(it))]],
  ].filter(([, items]) => items.length);
  const focused = document.activeElement?.dataset?.id;
  put(nav, JSON.stringify([groups, selected]), () => {
    if (!groups.length) {
      return el("p.notice", {}, "No runs yet. Start one: ", el("code", {}, "ralph run \"…\""));
    }
    return groups.map(([title, items]) => el(`section${title === "Needs you" ? ".needs" : ""}`, {},
      el("h2", {}, title, el("span.count", {}, `${items.length}`)),
      items.map(item => card(item, item.id === selected, open))));
  });
  if (focused) nav.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus({preventScroll: true});
}

function card(item, isSelected, open) {
  const isFleet = item.items !== undefined;
  const title = isFleet ? `Fleet: ${item.landed} of ${item.items.length} landed` : item.asked || `ralph ${item.preset}`;
  const isLive = item.standing === "running";
  const times = isLive && item.startedAt ? since(item.startedAt, running) : item.lastAt && since(item.lastAt);
  return el(`button.card${isSelected ? ".selected" : ""}`, {
    type: "button", "data-id": item.id, "aria-current": isSelected ? "true" : undefined, onclick: () => open(item.id),
  },
  el("span.row", {}, pill(item.isStopping ? "stopping" : item.standing, item.attention), dots(item.gates), el("span.when", {}, times ?? "")),
  el("span.title", {}, title),
  item.attention && el("span.need", {}, attention(item.attention)),
  isLive && item.doing && el("span.doing", {}, item.doing),
  el("span.facts", {}, isFleet
    ? facts(base(item.project), item.target, dollars(item.cost || undefined))
    : facts(base(item.project), item.preset, `${item.iteration} of ${item.maxIterations}`, dollars(item.spend?.usage?.cost_usd))));
}
