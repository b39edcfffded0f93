// One run: what it needs, what it does, and over time what the guardrails said, what it cost, what was found.

import {buttons, sayLine} from "/actions.js";
import {door, get} from "/connection.js";
import {base, dollars, el, facts, plural, put, running, short, since, time, tokens} from "/dom.js";
import {attention, dots, pill, words_of} from "/list.js";

/** As many lines of the stream stay on the page. */
const MAX_LINES = 1500;
const TABS = [["now", "Now"], ["gates", "Guardrails"], ["tasks", "Stories"], ["diff", "Diff"], ["spend", "Spend"], ["findings", "Findings"]];

/** The view of a run; made once for each run that is opened. */
export class RunView {
  constructor(main, id, notice) {
    Object.assign(this, {id, notice, tab: "now", run: undefined, lines: new Map(), follows: true, filter: ""});
    this.head = el("div.head");
    this.tabs = el("div.tabs", {role: "tablist"});
    this.stream = el("ol.stream", {"aria-label": "What the agent says and does", onscroll: () => this.scrolled()});
    this.newest = el("button.newest", {type: "button", hidden: true, onclick: () => this.jump()}, "Newest ↓");
    this.search = el("input.search", {type: "search", placeholder: "Search the stream", "aria-label": "Search the stream", oninput: () => this.filtered()});
    this.now = el("div.now", {}, this.search, this.stream, this.newest);
    this.panel = el("div.panel", {role: "tabpanel"});
    this.foot = el("div.foot");
    main.replaceChildren(this.head, this.tabs, this.panel, this.foot);
    put(this.head, "loading", () => el("p.notice", {}, "Loading…"));
  }

  /** A new picture of the run. */
  show(run) {
    // Whoever must decide reads what was found first.
    if (!this.run && run.attention?.kind === "decide") this.tab = "findings";
    this.run = run;
    document.title = `${run.attention ? "● " : ""}${run.asked || run.preset} — ralph`;
    put(this.head, JSON.stringify([run, door.canAct]), () => this.header(run));
    this.showTabs();
    this.showPanel();
    put(this.foot, JSON.stringify([run.standing, door.canAct]), () => sayLine(run, this.notice));
  }

  header(run) {
    const isLive = run.standing === "running";
    return [
      el("div.row", {}, pill(run.isStopping ? "stopping" : run.isPausing && run.standing === "running" ? "pausing" : run.standing, run.attention), dots(run.gates),
        el("span.when", {}, isLive ? since(run.startedAt, running) : since(run.lastAt))),
      el("h2.asked", {}, run.asked || `ralph ${run.preset}`),
      el("p.facts", {}, facts(run.project, run.preset, `iteration ${run.iteration} of ${run.maxIterations}`, run.agent && base(run.agent), run.sandbox && `sandbox ${run.sandbox}`)),
      run.damage && el("p.banner.bad", {}, run.damage),
      run.attention && el("div.banner.warn", {}, el("strong", {}, "Needs you: "), attention(run.attention), this.commands(run)),
      !run.attention && run.outcome && el("p.outcome", {}, run.outcome),
      isLive && run.doing && el("p.doing", {}, run.turnSince && el("span.clock", {}, since(run.turnSince, running)), run.doing),
      el("div.buttons", {}, buttons(run, this.notice)),
      ...(run.said ?? []).map(word => el("p.said", {}, `You said: ${word}`)),
    ];
  }

  /** What would be typed: for those who cannot or will not press a button. */
  commands(run) {
    return door.canAct ? [] : run.commands.map(command => el("code.command", {}, command));
  }

  /** The tabs that have something to show. */
  available() {
    const run = this.run;
    return TABS.filter(([name]) => !run || name !== "tasks" || run.tasks.length || run.planTasks);
  }

  showTabs() {
    const count = {findings: this.run.findings.length, tasks: this.run.tasks.length};
    put(this.tabs, JSON.stringify([this.tab, count, this.available()]), () => this.available().map(([name, title], index) => el("button.tab", {
      type: "button", role: "tab", "aria-selected": `${this.tab === name}`, tabindex: this.tab === name ? 0 : -1, "data-tab": name,
      title: `Key ${index + 1}`, onclick: () => this.select(name),
    }, title, count[name] ? el(`span.count${name === "findings" && !this.run.isAccepted ? ".warn" : ""}`, {}, `${count[name]}`) : undefined)));
  }

  select(name) {
    this.tab = name;
    if (!this.run) return;
    this.showTabs();
    this.showPanel();
    if (name === "diff") this.loadDiff();
  }

  showPanel() {
    const run = this.run;
    switch (this.tab) {
      case "now": put(this.panel, "now", () => this.now); this.settle(); return;
      case "gates": put(this.panel, JSON.stringify(["gates", run.gates, run.turns]), () => gates(run, turn => this.openTurn(turn))); break;
      case "tasks": put(this.panel, JSON.stringify(["tasks", run.tasks, run.planTasks]), () => tasks(run)); break;
      case "diff": put(this.panel, JSON.stringify(["diff", this.diff]), () => diff(this.diff, () => this.loadDiff())); break;
      case "spend": put(this.panel, JSON.stringify(["spend", run.spend, run.turns]), () => spend(run)); break;
      case "findings": put(this.panel, JSON.stringify(["findings", run.findings, run.notes, run.warnings, run.refusals, run.isAccepted]), () => findings(run)); break;
    }
    const table = this.panel.querySelector(".grid");
    if (table && !table.dataset.moved) {
      table.scrollLeft = table.scrollWidth;
      table.dataset.moved = "yes";
    }
  }

  async loadDiff() {
    const answer = await get(`/api/diff?id=${this.id}`).catch(() => undefined);
    this.diff = answer?.ok ? answer.body : {files: [], new: [], lines: [], failed: true};
    if (this.tab === "diff") this.showPanel();
  }

  /** The stream of an earlier turn. */
  async openTurn(turn) {
    const answer = await get(`/api/turn?id=${this.id}&turn=${turn.iteration}.${turn.attempt}`).catch(() => undefined);
    const list = el("ol.stream", {}, (answer?.body.lines ?? []).map(line));
    const dialog = el("dialog.wide", {onclose: () => dialog.remove()},
      el("div.row", {}, el("h2", {}, `Turn ${turn.iteration}.${turn.attempt}`), el("button.act", {type: "button", onclick: () => dialog.close()}, "Close")),
      turn.problem && el("p.banner.bad", {}, turn.problem), answer?.body.lines?.length ? list : el("p.notice", {}, "The record has nothing about it."));
    document.body.append(dialog);
    dialog.showModal();
  }

  /** The stream begins: from here, or anew. */
  begin({reset}) {
    if (!reset) return;
    this.lines.clear();
    this.stream.replaceChildren();
  }

  /** Lines that are new or have grown. */
  add(lines) {
    for (const data of lines) {
      const known = this.lines.get(data.key);
      const element = line(data);
      if (known) known.replaceWith(element);
      else this.stream.append(element);
      this.lines.set(data.key, element);
      this.hide(element);
    }
    for (const key of [...this.lines.keys()].slice(0, Math.max(0, this.lines.size - MAX_LINES))) {
      this.lines.get(key).remove();
      this.lines.delete(key);
    }
    this.settle();
  }

  settle() {
    if (this.follows) this.stream.scrollTop = this.stream.scrollHeight;
    this.newest.hidden = this.follows;
  }

  scrolled() {
    this.follows = this.stream.scrollHeight - this.stream.scrollTop - this.stream.clientHeight < 40;
    this.newest.hidden = this.follows;
  }

  jump() {
    this.follows = true;
    this.settle();
  }

  filtered() {
    this.filter = this.search.value.toLowerCase();
    this.lines.forEach(element => this.hide(element));
    this.settle();
  }

  hide(element) {
    element.hidden = this.filter !== "" && !element.textContent.toLowerCase().includes(this.filter);
  }
}

function line(data) {
  return el(`li.${data.kind}`, {"data-key": data.key}, data.text);
}

/** The guardrails over time: a row for each, a column for each turn. */
function gates(run, openTurn) {
  if (!run.turns.length) return el("p.notice", {}, "No turn has begun yet.");
  const earlier = run.turnsTotal - run.turns.length;
  const head = el("tr", {}, el("th", {scope: "col"}, "Turn"), run.turns.map(turn => el("th", {scope: "col"}, el("button.turn", {
    type: "button", title: `Turn ${turn.iteration}.${turn.attempt}: what the agent said`, onclick: () => openTurn(turn),
  }, `${turn.iteration}`))));
  const rows = run.gates.map((gate, index) => el("tr", {}, el("th", {scope: "row", title: gate.name}, gate.name), run.turns.map(turn => {
    const dot = turn.gates[index] ?? "unchecked";
    return el("td", {title: `Turn ${turn.iteration}: ${words_of(dot)}`}, el(`i.dot.${dot}`), el("span.hidden", {}, words_of(dot)));
  })));
  return [
    run.gates.length ? el("div.grid", {tabindex: 0, role: "region", "aria-label": "Guardrails over time"}, el("table", {}, el("thead", {}, head), el("tbody", {}, rows)))
      : el("p.notice", {}, "This run has no guardrails: nothing verifies its work."),
    el("p.legend", {}, ["passed", "failed", "failedInJudge", "unchecked"].map(dot => el("span", {}, el(`i.dot.${dot}`), words_of(dot)))),
    earlier > 0 && el("p.quiet", {}, `${plural(earlier, "earlier turn")} not shown`),
    el("ol.turns", {}, [...run.turns].reverse().slice(0, 60).map(turn => el("li", {}, el("button.entry", {type: "button", onclick: () => openTurn(turn)},
      el("span.row", {}, el("b", {}, `${turn.iteration}${turn.attempt > 1 ? `.${turn.attempt}` : ""}`), el("span", {}, turn.task || turn.mode || {open: "at work", finished: "finished", paused: "paused", failed: "failed", ended: "ended"}[turn.mark]),
        turn.claimed && el("span.tag", {}, "said done"), turn.committed && el("span.tag.good", {}, "committed"), turn.problem && el("span.tag.bad", {}, turn.problem)),
      el("span.facts", {}, facts(run.spend.agents.length > 1 && turn.agent, turn.ms && time(turn.ms), dollars(turn.usage.cost_usd), turn.tools && plural(turn.tools, "tool call"))))))),
  ];
}

const STATES = {open: "open", inReview: "in review", sentBack: "sent back", done: "done", forPerson: "for you"};

function tasks(run) {
  if (!run.tasks.length && run.planTasks) return el("p.notice", {}, `${run.planTasks[0] - run.planTasks[1]} of ${plural(run.planTasks[0], "task")} done`);
  const done = run.tasks.filter(task => task.state === "done").length;
  return [
    el("p.quiet", {}, `${done} of ${run.tasks.length} done`),
    el("ul.tasks", {}, run.tasks.map(task => el(`li.${task.state}${task.isCurrent ? ".current" : ""}`, {}, el("i.box", {"aria-hidden": "true"}),
      el("span.title", {}, task.id && el("b", {}, task.id, " "), task.title), el("span.tag", {}, facts(STATES[task.state], task.reviews && plural(task.reviews, "review")))))),
  ];
}

function diff(data, again) {
  if (!data) return el("p.notice", {}, "Loading…");
  if (data.failed) return el("p.notice", {}, "The difference cannot be shown.");
  if (!data.files.length && !data.new.length) return el("p.notice", {}, "Nothing has changed.");
  const kind = text => (text.startsWith("diff --git") ? "file" : text.startsWith("@@") ? "hunk" : text.startsWith("+") ? "plus" : text.startsWith("-") ? "minus" : "same");
  return [
    el("ul.files", {}, data.files.map(file => el("li", {}, el("code", {}, file.path), el("span", {}, el("b.plus", {}, `+${file.added ?? "?"}`), " ", el("b.minus", {}, `−${file.removed ?? "?"}`)))),
      data.new.map(path => el("li", {}, el("code", {}, path), el("span.tag", {}, "new")))),
    data.lines.length > 0 && el("pre.diff", {tabindex: 0}, data.lines.map(text => el(`span.${kind(text)}`, {}, text, "\n"))),
    data.cut && el("p.quiet", {}, "The rest is not shown."),
    el("p.buttons", {}, el("button.act", {type: "button", onclick: again}, "Look again")),
  ];
}

function spend(run) {
  const {usage, limits} = run.spend;
  const figures = [
    [dollars(usage.cost_usd) ?? "—", limits.maxCost ? `of $${limits.maxCost}` : "cost", limits.maxCost && (usage.cost_usd ?? 0) / limits.maxCost],
    [short(tokens(usage)), limits.maxTokens ? `of ${short(limits.maxTokens)} tokens` : "tokens", limits.maxTokens && tokens(usage) / limits.maxTokens],
    [time(run.spend.ms), limits.maxTimeMs ? `of ${time(limits.maxTimeMs)}` : "time", limits.maxTimeMs && run.spend.ms / limits.maxTimeMs],
    [`${run.iteration}`, `of ${plural(run.maxIterations, "iteration")}`, run.iteration / run.maxIterations],
    [`${run.spend.commits}`, run.spend.commits === 1 ? "commit" : "commits"], [`${run.spend.tools}`, "tool calls"],
  ];
  const bar = share => {
    const inner = el(`i${share > 0.9 ? ".bad" : share > 0.7 ? ".warn" : ""}`);
    inner.style.width = `${Math.min(100, Math.max(2, share * 100))}%`;
    return el("span.bar", {"aria-hidden": "true"}, inner);
  };
  const most = Math.max(...run.turns.map(turn => turn.ms), 1);
  return [
    el("div.figures", {}, figures.map(([value, words, share]) => el("div", {}, el("b", {}, value), el("span", {}, words), share ? bar(share) : undefined))),
    run.spend.agents.length > 1 && el("ul.agents", {}, run.spend.agents.map(agent => el("li", {}, el("b", {}, agent.name), el("span.facts", {}, facts(plural(agent.turns, "turn"), time(agent.ms), dollars(agent.usage.cost_usd)))))),
    run.turns.length > 1 && el("h3", {}, "Time of each turn"),
    run.turns.length > 1 && el("div.bars", {role: "img", "aria-label": "Time of each turn"}, run.turns.slice(-80).map(turn => {
      const column = el(`i${turn.gates.some(dot => dot.startsWith("failed")) ? ".bad" : turn.mark === "failed" ? ".warn" : ""}`, {title: `Turn ${turn.iteration}: ${time(turn.ms)}`});
      column.style.height = `${Math.max(3, (100 * turn.ms) / most)}%`;
      return column;
    })),
  ];
}

function findings(run) {
  const list = (title, items, className) => items.length ? [el("h3", {}, title), el(`ul.${className}`, {}, items)] : [];
  if (![run.findings, run.notes, run.warnings, run.refusals].some(items => items.length)) {
    return el("p.notice", {}, "No findings: the checks were not weakened, and the guard refused nothing.");
  }
  return [
    list(run.isAccepted ? "Findings, accepted" : "Findings", run.findings.map(finding => el("li", {}, el("p", {}, finding.text),
      finding.files.map(file => el("p.file", {}, el("code", {}, file))), el("p.quiet", {}, finding.choices))), "findings"),
    run.reason ? [el("h3", {}, "The agent's reason"), el("blockquote", {}, run.reason)] : [],
    list("Notes", run.notes.map(note => el("li", {}, note)), "notes"),
    list("Warnings", run.warnings.map(text => el("li", {}, text)), "notes"),
    list("Refused by the guard", run.refusals.map(it => el("li", {}, el("span.quiet", {}, `iteration ${it.iteration} `), it.text)), "notes"),
  ].flat();
}
