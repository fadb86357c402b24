// What somebody types to find runs. Pure.

/** What the gateway filters by. */
export const FILTERS = ["kind", "route", "status", "model", "app", "agent", "subject", "key", "since", "until"];

const RUN = /^run_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/**
 * `agent:triage "model:gpt 4" refund` → filters, other words, and the id of a run if that is all there is.
 * @param {string} text @returns {{ filters: Record<string, string>, text: string, run: string | null }}
 */
export function readSearch(text) {
  /** @type {Record<string, string>} */
  const filters = {};
  const rest = [];
  for (const [, quoted, plain] of text.matchAll(/"([^"]*)"|(\S+)/g)) {
    const word = quoted ?? plain;
    const cut = word.indexOf(":");
    const name = word.slice(0, cut);
    if (cut > 0 && FILTERS.includes(name) && cut < word.length - 1) filters[name] = word.slice(cut + 1);
    else rest.push(word);
  }
  const run = rest.length === 1 && RUN.test(rest[0]) ? rest[0] : null;
  return { filters, text: rest.join(" "), run };
}

/** The same the other way round. @param {Record<string, string>} filters @param {string} text */
export function writeSearch(filters, text) {
  const named = FILTERS.filter((name) => filters[name] && !["route", "status", "kind", "until"].includes(name))
    .map((name) => (/\s/.test(filters[name]) ? `"${name}:${filters[name]}"` : `${name}:${filters[name]}`));
  return [...named, text].filter(Boolean).join(" ");
}

/** Whether a run that the feed tells of belongs in a list with these filters. @param {any} run @param {Record<string, string>} filters */
export function fits(run, filters) {
  return Object.entries(filters).every(([name, value]) => {
    if (name === "since") return run.startedAt >= value;
    if (name === "until") return run.startedAt < value;
    return (name === "key" ? run.keyId : run[name]) === value;
  });
}
