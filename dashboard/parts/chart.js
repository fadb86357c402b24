// Charts over time. uPlot paints on a canvas, which says nothing to a screen reader: every chart comes with its table.
import { html, useEffect, useRef } from "../view.js";
import { clock } from "../format.js";
import { repaint } from "../store/theme.js";
import { tip } from "./chart-tip.js";
import { useCell } from "../store/use.js";

/** @typedef {{ label: string, colour: string, values: Array<number | null>, format: (value: number | null) => string, dash?: number[] }} Line */

/** The library and its style come with the first chart. @type {Promise<any> | null} */
let loading = null;
function charts() {
  loading ??= Promise.all([import("../vendor/uplot.js"), new Promise((resolve) => {
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/assets/vendor/uplot.css", onload: resolve, onerror: resolve });
    document.head.append(sheet);
  })]).then(([library]) => library.default);
  return loading;
}

/** A canvas does not know variables: the colour is read off an element that uses it. @param {string} variable */
function colourOf(variable) {
  const probe = document.createElement("i");
  probe.style.color = `var(${variable})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/** @param {string} colour as `rgb(…)` @param {number} alpha */
const faded = (colour, alpha) => colour.replace(/^rgb\(([^)]*)\)$/, `rgba($1, ${alpha})`);

/**
 * @param {{ label: string, times: number[], lines: Line[], kind?: "line" | "bars", height?: number, stacked?: boolean, tick?: (time: number) => string, xLabel?: string, floor?: number, numbers?: boolean }} props
 * times in seconds; `numbers` when they are none
 */
export function Chart({ label, times, lines, kind = "line", height = 180, stacked = false, tick = (time) => clock(new Date(time * 1000).toISOString()), xLabel = "When", floor, numbers = false }) {
  const holder = useRef(/** @type {HTMLDivElement | null} */ (null));
  const painted = useCell(repaint);
  useEffect(() => {
    let chart = /** @type {any} */ (null);
    let gone = false;
    /** @type {ResizeObserver | null} */
    let observer = null;
    (async () => {
      const UPlot = await charts();
      const element = holder.current;
      if (gone || !element) return;
      chart = new UPlot(/** @type {any} */ ({ ...optionsOf(UPlot, element.clientWidth, height, { times, lines, kind, stacked, tick, floor, numbers }), plugins: [tip(times, lines, tick)] }), /** @type {any} */ ([times, ...(stacked ? stack(lines) : lines.map((line) => line.values))]), element);
      observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
      observer.observe(element);
    })();
    return () => { gone = true; observer?.disconnect(); chart?.destroy(); };
  }, [times, lines, kind, height, stacked, painted]);
  return html`<figure><div class="chart" ref=${holder} style=${{ height: `${height}px` }} role="img" aria-label=${label} />
    <div class="visually-hidden"><table><caption>${label}</caption><thead><tr><th>${xLabel}</th>${lines.map((line) => html`<th>${line.label}</th>`)}</tr></thead>
    <tbody>${times.slice(-60).map((time, i, shown) => html`<tr key=${time}><td>${tick(time)}</td>${lines.map((line) => html`<td>${line.format(line.values[times.length - shown.length + i])}</td>`)}</tr>`)}</tbody></table></div></figure>`;
}

/** Each line on top of those before it; painted from the last to the first, so that none covers another. @param {Line[]} lines */
function stack(lines) {
  const sums = lines[0]?.values.map(() => 0) ?? [];
  const layers = lines.map((line) => line.values.map((value, i) => (sums[i] += value ?? 0)));
  return layers.reverse();
}

/** @param {any} UPlot @param {number} width @param {number} height @param {{ times: number[], lines: Line[], kind: string, stacked: boolean, tick: (time: number) => string, floor?: number, numbers: boolean }} what */
function optionsOf(UPlot, width, height, { times, lines, kind, stacked, tick, floor, numbers }) {
  const ink = colourOf("--ink-faint");
  const line = colourOf("--line");
  const font = "11px Geist, sans-serif";
  // A bar needs half a step on either side; a line begins and ends at the edge.
  const gap = kind !== "bars" ? 0 : times.length > 1 ? times[1] - times[0] : 1;
  const shown = stacked ? [...lines].reverse() : lines;
  const paths = kind === "bars" ? UPlot.paths.bars({ size: [0.72, 28], radius: 0.12 }) : UPlot.paths.linear();
  const format = lines[0]?.format ?? String;
  return {
    width, height, legend: { show: false }, padding: [8, 4, 0, 4],
    cursor: { points: { show: false }, drag: { x: false, y: false }, y: false },
    scales: { x: { time: !numbers, range: () => [times[0] - gap / 2, times[times.length - 1] + gap / 2] },
      y: { range: (/** @type {any} */ _u, /** @type {number} */ _least, /** @type {number} */ most) => [floor ?? 0, Math.max(most * 1.08, (floor ?? 0) + 1e-6)] } },
    axes: [
      { stroke: ink, font, grid: { show: false }, ticks: { show: false }, size: 24, space: 72, values: (/** @type {any} */ _u, /** @type {number[]} */ values) => values.map((value) => tick(value)) },
      { stroke: ink, font, grid: { stroke: line, width: 1 }, ticks: { show: false }, size: 56, space: 36, values: (/** @type {any} */ _u, /** @type {number[]} */ values) => values.map((value) => format(value)) },
    ],
    series: [{}, ...shown.map((item) => {
      const colour = colourOf(item.colour);
      return { label: item.label, stroke: colour, width: kind === "bars" ? 0 : 1.75, fill: kind === "bars" ? colour : stacked ? faded(colour, 0.85) : undefined, paths, dash: item.dash, points: { show: false }, spanGaps: true };
    })],
  };
}

/** @param {{ lines: Array<{ label: string, colour: string, value?: string }> }} props */
export const Legend = ({ lines }) => html`<div class="legend" aria-hidden="true">${lines.map((line) => html`<span key=${line.label} class="badge plain" style=${{ "--dot": `var(${line.colour})` }}>${line.label}${line.value && html` <strong>${line.value}</strong>`}</span>`)}</div>`;
