// Hash routes: `#/runs/run_…?tab=trace`. A page is a place that can be bookmarked, so what a page shows is in its address.
import { Cell } from "./view.js";

/** @typedef {{ path: string, segments: string[], query: URLSearchParams }} Place */

/** @returns {Place} */
function read() {
  const text = location.hash.replace(/^#/, "") || "/";
  const cut = text.indexOf("?");
  const path = cut < 0 ? text : text.slice(0, cut);
  return { path, segments: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1)) };
}

/** An address that somebody mistyped is still an address. @param {string} text */
function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

/** Where the browser is. @type {Cell<Place>} */
export const place = new Cell(read());
addEventListener("hashchange", () => place.set(read()));

/** @param {string} path @param {Record<string, string | null | undefined>} [query] */
export function link(path, query = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value);
  const text = search.toString();
  return `#${path}${text ? `?${text}` : ""}`;
}

/** @param {string} path @param {Record<string, string | null | undefined>} [query] */
export function go(path, query) {
  location.hash = link(path, query);
}

/** Changes the query of this page without a step in the history: for filters, typed letter by letter. @param {Record<string, string | null | undefined>} query */
export function refine(query) {
  history.replaceState(null, "", link(place.value.path, query));
  place.set(read());
}
