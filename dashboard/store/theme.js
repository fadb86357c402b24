// Light, dark, or as the system says. theme.js in the root applies it before the first paint.
import { Cell } from "../view.js";

/** @typedef {"system" | "light" | "dark"} Theme */

/** @returns {Theme} */
function stored() {
  try {
    const value = localStorage.getItem("punk.theme");
    return value === "light" || value === "dark" ? value : "system";
  } catch { return "system"; }
}

/** @type {Cell<Theme>} */
export const theme = new Cell(stored());

/** Counts how often colours changed, for what is painted on a canvas. */
export const repaint = new Cell(0);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => repaint.set(repaint.value + 1));

/** @param {Theme} next */
export function choose(next) {
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  try {
    if (next === "system") localStorage.removeItem("punk.theme");
    else localStorage.setItem("punk.theme", next);
  } catch { /* not kept then */ }
  theme.set(next);
  repaint.set(repaint.value + 1);
}

/** @type {Record<Theme, Theme>} */
const AFTER = { system: "light", light: "dark", dark: "system" };
export const cycle = () => choose(AFTER[theme.value]);
