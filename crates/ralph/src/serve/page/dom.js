// Makes elements and words. Text only ever becomes text: nothing here parses markup.

/** An element: `el("p.quiet", {title: "x"}, "words", child)`. */
export function el(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter(child => child !== undefined && child !== null && child !== false));
  return element;
}

/** Replaces what is in an element only when it is different, so that nothing flickers and no selection is lost. */
export function put(parent, key, make) {
  if (parent.dataset.shown === key) return;
  parent.dataset.shown = key;
  parent.replaceChildren(...[make()].flat().filter(Boolean));
}

export function plural(number, what) {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** `1h 4m`, `12m`, `8s`. */
export function time(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)} days`;
}

/** `just now`, `5 min ago`, `3 days ago`. */
export function ago(moment, now = Date.now()) {
  const seconds = Math.max(0, (now - Date.parse(moment)) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} days ago`;
}

export function dollars(amount) {
  return amount === undefined || amount === null ? undefined : `$${amount.toFixed(2)}`;
}

/** `1.2M`, `34k`, `999`. */
export function short(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)}M`;
  if (number >= 1e4) return `${Math.round(number / 1e3)}k`;
  return `${number}`;
}

export function tokens(usage) {
  return (usage.input ?? 0) + (usage.output ?? 0);
}

/** The last part of a path. */
export function base(path) {
  return path.split("/").filter(Boolean).pop() ?? path;
}

/** Words with a dot between them. */
export function facts(...words) {
  return words.filter(Boolean).join(" · ");
}

/** A moment that counts on by itself. */
export function since(moment, words = ago) {
  return el("time", {datetime: moment, "data-words": words === ago ? "ago" : "for"}, words(moment));
}

export function running(moment) {
  return time(Date.now() - Date.parse(moment));
}

setInterval(() => {
  for (const element of document.querySelectorAll("time[data-words]")) {
    const words = element.dataset.words === "ago" ? ago : running;
    element.textContent = words(element.getAttribute("datetime"));
  }
}, 1000);
