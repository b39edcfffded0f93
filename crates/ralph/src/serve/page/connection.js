// The way to the server: the token of the link becomes a session, and events continue where they were after every break.

const HEADER = "X-Ralph-Key";
const KEY = "ralph-key";
const FIRST_PAUSE = 300;
const LONGEST_PAUSE = 5000;

/** What the server says about this page. */
export const door = {canAct: false, why: "", version: ""};

/** Makes a session of the token in the link, and takes it out of the address, where others would see it. */
export async function begin() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", location.pathname);
    const answer = await post("/session", {token}).catch(() => undefined);
    if (answer?.ok) sessionStorage.setItem(KEY, answer.body.key);
  }
}

/** Asks for data. */
export async function get(path) {
  const answer = await fetch(path, {headers: {[HEADER]: key()}});
  return {ok: answer.ok, status: answer.status, body: await answer.json().catch(() => ({}))};
}

/** Has something done. */
export async function post(path, body) {
  const headers = {[HEADER]: key(), "Content-Type": "application/json"};
  const answer = await fetch(path, {method: "POST", headers, body: JSON.stringify(body)});
  return {ok: answer.ok, status: answer.status, body: await answer.json().catch(() => ({}))};
}

function key() {
  return sessionStorage.getItem(KEY) ?? "";
}

/** One stream of events, of the list and of at most one run. */
export class Link {
  constructor(listener) {
    this.listener = listener;
    this.pause = FIRST_PAUSE;
    this.run = undefined;
    this.last = "";
    document.addEventListener("visibilitychange", () => (document.hidden ? this.close() : this.open()));
    addEventListener("online", () => this.open());
  }

  /** From now on about this run, from its beginning. */
  follow(run) {
    this.run = run;
    this.last = "";
    this.open();
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = undefined;
  }

  async open() {
    this.close();
    const turn = (this.turn = {});
    const hello = await get("/api/hello").catch(() => undefined);
    // Somebody opened another one meanwhile.
    if (turn !== this.turn || document.hidden) return;
    if (hello?.status === 401 || hello?.status === 421) {
      this.listener.locked(hello.body.text ?? "");
      return;
    }
    if (!hello?.ok) return this.later();
    Object.assign(door, hello.body);
    const query = new URLSearchParams();
    if (this.run) query.set("id", this.run);
    if (this.last) query.set("after", this.last);
    const source = (this.source = new EventSource(`/api/events?${query}`));
    source.onopen = () => {
      this.pause = FIRST_PAUSE;
      this.listener.connected();
    };
    source.onerror = () => this.later();
    for (const kind of ["runs", "begin", "model", "lines"]) {
      source.addEventListener(kind, event => {
        if (event.lastEventId) this.last = event.lastEventId;
        this.listener[kind](JSON.parse(event.data));
      });
    }
  }

  later() {
    this.close();
    this.listener.lost();
    this.timer = setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(LONGEST_PAUSE, this.pause * 2);
  }
}
