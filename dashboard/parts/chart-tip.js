// What a chart says below the pointer: the moment, and the value of each line there.

/** @typedef {import("./chart.js").Line} Line */

/**
 * A plugin of uPlot. Lines are read as they were given, not as they are stacked.
 * @param {number[]} times @param {Line[]} lines @param {(time: number) => string} tick
 */
export function tip(times, lines, tick) {
  const box = document.createElement("div");
  box.className = "chart-tip";
  box.hidden = true;
  return {
    hooks: {
      init: (/** @type {any} */ chart) => {
        chart.over.append(box);
        chart.over.addEventListener("mouseleave", () => { box.hidden = true; });
      },
      setCursor: (/** @type {any} */ chart) => {
        const { idx, left } = chart.cursor;
        box.hidden = idx === null || idx === undefined || left < 0;
        if (box.hidden) return;
        box.replaceChildren(row("", tick(times[idx]), null), ...lines.map((line) => row(line.label, line.format(line.values[idx]), line.colour)));
        const room = chart.over.clientWidth - box.offsetWidth;
        box.style.left = `${Math.max(0, Math.min(room, left + (left > room ? -box.offsetWidth - 12 : 12)))}px`;
      },
    },
  };
}

/** @param {string} label @param {string} value @param {string | null} colour */
function row(label, value, colour) {
  const line = document.createElement("div");
  const name = document.createElement("span");
  name.textContent = label;
  if (colour) { name.className = "badge plain"; name.style.setProperty("--dot", `var(${colour})`); }
  const text = document.createElement("strong");
  text.textContent = value;
  line.append(name, text);
  return line;
}
