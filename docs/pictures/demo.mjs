// Draws the demo as a picture of a terminal, from what the demo really says: node docs/pictures/demo.mjs PUNK > docs/pictures/demo.svg
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The steps that fit into a picture; the demo has more. */
const SHOWN = [1, 2, 6, 8, 10, 12, 13, 14, 15];
const LONGEST = 104;
const [LINE, LETTER, MARGIN] = [19, 8.05, 26];
const COLOURS = { title: "#f7f7f5", name: "#8f8f86", value: "#d6d6cf", good: "#57d19a", bad: "#ff8a73", accent: "#ff6aa8" };

const binary = resolve(process.argv[2] ?? "target/release/punk");
const folder = mkdtempSync(join(tmpdir(), "punk-demo-"));
const told = spawnSync(binary, ["demo", "--fast"], { cwd: folder, encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
rmSync(folder, { recursive: true });
if (told.status !== 0) throw new Error(`the demo failed: ${told.stderr}`);
process.stdout.write(draw(lines(told.stdout)));

/** The chosen steps without their narration, each line with what it is. */
function lines(transcript) {
  const all = [{ text: "$ punk demo", kind: "accent" }];
  let shown = false;
  for (const text of transcript.split("\n")) {
    const step = /^ ?(\d+) {2}(.*)$/.exec(text);
    if (step) {
      shown = SHOWN.includes(Number(step[1]));
      if (shown) all.push({ text: "", kind: "value" }, { text: `${step[1].padStart(2)}  ${step[2]}`, kind: "title" });
    } else if (shown && /^ {6}/.test(text)) {
      all.push({ text: cut(text.slice(2)), kind: "value" });
    }
  }
  return all;
}

function cut(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

function draw(all) {
  const height = MARGIN * 2 + 22 + all.length * LINE;
  const width = Math.round(MARGIN * 2 + LONGEST * LETTER);
  const rows = all.flatMap(({ text, kind }, at) => (text ? `<text y="${MARGIN + 36 + at * LINE}">${spans(text, kind)}</text>` : []));
  const dots = [0, 1, 2].map((at) => `<circle cx="${MARGIN + at * 18}" cy="22" r="5.5" fill="#3a3a36"/>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="What punk demo prints">
<rect width="${width}" height="${height}" rx="10" fill="#12110f"/>
${dots.join("")}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" transform="translate(${MARGIN} 0)">
${rows.join("\n")}
</g>
</svg>
`;
}

/** The name of a value is quiet; what was served cheaply or proven is green, what was refused is red. */
function spans(text, kind) {
  if (kind !== "value") return span(text, COLOURS[kind], kind === "title");
  const [, name, gap, value] = /^( *(?:[^ ]+(?: [^ ]+)*)?)( {2,})(.*)$/.exec(text) ?? ["", "", "", text];
  const colour = /\b(valid|passed|hit|exact_cache|artifact|approved|saved)\b/.test(`${name} ${value}`) ? COLOURS.good
    : /\b(broken|refused|denied|not yet|quarantined|rejected)\b/.test(`${name} ${value}`) ? COLOURS.bad : COLOURS.value;
  return span(name + gap, COLOURS.name) + span(value, colour);
}

function span(text, fill, bold = false) {
  // Some viewers fold spaces whatever they are told; these they keep.
  const plain = text.replaceAll(" ", "\u00a0").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return plain && `<tspan fill="${fill}"${bold ? ' font-weight="600"' : ""}>${plain}</tspan>`;
}
