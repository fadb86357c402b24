// How numbers, money and times are written. One way each, everywhere.

const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const WHOLE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export const NOTHING = "–";

/** @param {number | null | undefined} value */
export const count = (value) => (value === null || value === undefined ? NOTHING : COUNT.format(value));
/** @param {number | null | undefined} value */
export const compact = (value) => (value === null || value === undefined ? NOTHING : value < 10_000 ? COUNT.format(value) : COMPACT.format(value));
/** @param {number | null | undefined} value */
export const percent = (value) => (value === null || value === undefined || Number.isNaN(value) ? NOTHING : `${(value * 100).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`);

/** Small sums keep the digits that matter; a price nobody knows is not zero. @param {number | null | undefined} value */
export function usd(value) {
  if (value === null || value === undefined) return NOTHING;
  if (value === 0) return "$0";
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 1 ? 2 : Math.min(6, 2 - Math.floor(Math.log10(size)));
  const [whole, rest] = size.toFixed(digits).split(".");
  return `${value < 0 ? "−" : ""}$${COUNT.format(Number(whole))}${rest ? `.${rest}` : ""}`;
}

/** @param {number | null | undefined} value milliseconds */
export function duration(value) {
  if (value === null || value === undefined) return NOTHING;
  if (value < 1000) return `${Math.round(value)} ms`;
  if (value < 60_000) return `${(value / 1000).toFixed(value < 10_000 ? 2 : 1)} s`;
  if (value < 3_600_000) return `${Math.floor(value / 60_000)} min ${Math.round((value % 60_000) / 1000)} s`;
  if (value < 172_800_000) return `${(value / 3_600_000).toFixed(1)} h`;
  return `${(value / 86_400_000).toFixed(1)} days`;
}

/** @param {number | null | undefined} value */
export function bytes(value) {
  if (value === null || value === undefined) return NOTHING;
  if (value < 1024) return `${value} B`;
  if (value < 1024 ** 2) return `${(value / 1024).toFixed(1)} KB`;
  if (value < 1024 ** 3) return `${(value / 1024 ** 2).toFixed(1)} MB`;
  return `${(value / 1024 ** 3).toFixed(1)} GB`;
}

/** How long ago, or how soon. @param {string} time @param {number} [now] */
export function ago(time, now = Date.now()) {
  const seconds = Math.round((now - Date.parse(time)) / 1000);
  const size = Math.abs(seconds);
  if (Number.isNaN(seconds)) return NOTHING;
  if (size < 5) return "now";
  const text = size < 60 ? `${size} s` : size < 3600 ? `${Math.floor(size / 60)} min` : size < 86_400 ? `${Math.floor(size / 3600)} h` : size < 30 * 86_400 ? `${Math.floor(size / 86_400)} d` : DAY.format(new Date(time));
  return size >= 30 * 86_400 ? text : seconds < 0 ? `in ${text}` : `${text} ago`;
}

/** @param {string} time */
export const clock = (time) => CLOCK.format(new Date(time));
/** @param {string} time */
export const moment = (time) => WHOLE.format(new Date(time));
/** @param {string | number} time */
export const day = (time) => DAY.format(new Date(time));

/** `exact_cache` is for programs. @param {string | null | undefined} name */
export const words = (name) => (name ? name.replaceAll("_", " ") : NOTHING);

/** What somebody recognises an id by: its kind and its end, where ids of one moment differ. @param {string | null | undefined} id */
export function shortId(id) {
  if (!id) return NOTHING;
  const cut = id.indexOf("_");
  if (id.length <= 20) return id;
  return cut > 0 ? `${id.slice(0, cut + 1)}…${id.slice(-8)}` : `${id.slice(0, 8)}…${id.slice(-8)}`;
}

/** One of a number of things, in words. @param {number} number @param {string} one @param {string} [many] */
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** The value below which a share of the values lies. @param {number[]} sorted @param {number} share */
export function quantile(sorted, share) {
  if (sorted.length === 0) return null;
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** The gateway writes fragments, for programs and logs; people read sentences. @param {string | null | undefined} text */
export function sentence(text) {
  if (!text) return "";
  const begun = /^[a-z]+[ ,]/.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
  return /[.!?:]$/.test(begun) ? begun : `${begun}.`;
}
