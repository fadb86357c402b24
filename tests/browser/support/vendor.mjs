// Brings the libraries of the dashboard from node_modules into dashboard/vendor, with their licences and versions.
//
//   node tests/browser/support/vendor.mjs           writes the folder
//   node tests/browser/support/vendor.mjs --check   fails if the folder is not what this would write
//
// Browsers have no import map under a strict content security policy, so bare names become relative ones here.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const TARGET = join(ROOT, "dashboard/vendor");

const withoutMap = (text) => text.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n");
const relative = (text) => withoutMap(text).replace(/from\s*"preact"/g, 'from"./preact.js"');

/** What is taken: package, file in it, name here, and what has to change for a browser to load it as it is. */
const FILES = [
  ["preact", "dist/preact.mjs", "preact.js", withoutMap],
  ["preact", "hooks/dist/hooks.mjs", "preact-hooks.js", relative],
  ["htm", "dist/htm.module.js", "htm.js", withoutMap],
  // The small build is a classic script; one line makes it a module.
  ["uplot", "dist/uPlot.iife.min.js", "uplot.js", (text) => `${withoutMap(text).trimEnd()}\nexport default uPlot;\n`],
  ["uplot", "dist/uPlot.min.css", "uplot.css", withoutMap],
  ["@fontsource-variable/geist", "files/geist-latin-wght-normal.woff2", "geist.woff2", null],
  ["@fontsource-variable/geist-mono", "files/geist-mono-latin-wght-normal.woff2", "geist-mono.woff2", null],
];

const WHAT_FOR = {
  preact: "the view layer and its hooks",
  htm: "templates without a build step",
  uplot: "charts over time",
  "@fontsource-variable/geist": "the typeface",
  "@fontsource-variable/geist-mono": "the typeface of ids and code",
};

function contents() {
  const wanted = new Map();
  const rows = new Map();
  for (const [name, from, to, change] of FILES) {
    const folder = join(ROOT, "node_modules", name);
    const bytes = readFileSync(join(folder, from));
    wanted.set(to, change ? Buffer.from(change(bytes.toString("utf8"))) : bytes);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const licence = `licences/${name.replace(/^@[^/]*\//, "")}.txt`;
    wanted.set(licence, readFileSync(join(folder, "LICENSE")));
    const row = rows.get(name) ?? { version, license, licence, files: [] };
    row.files.push(to);
    rows.set(name, row);
  }
  wanted.set("README.md", Buffer.from(readme(rows)));
  return wanted;
}

function readme(rows) {
  const lines = [...rows].map(([name, row]) =>
    `| \`${name}\` | ${row.version} | [${row.license}](${row.licence}) | ${row.files.map((file) => `\`${file}\``).join(", ")} | ${WHAT_FOR[name]} |`);
  return `# What the dashboard brings along

Written by \`npm run vendor:dashboard\`; \`npm run check:dashboard\` compares. The versions are those that \`package.json\` pins.

| package | version | licence | files | what for |
|---|---|---|---|---|
${lines.join("\n")}
`;
}

const wanted = contents();
if (process.argv[2] === "--check") {
  const differing = [...wanted].filter(([name, bytes]) => {
    try { return !readFileSync(join(TARGET, name)).equals(bytes); } catch { return true; }
  });
  if (differing.length > 0) {
    console.error(`dashboard/vendor differs from what package.json pins: ${differing.map(([name]) => name).join(", ")}; run \`npm run vendor:dashboard\``);
    process.exitCode = 1;
  }
} else {
  mkdirSync(join(TARGET, "licences"), { recursive: true });
  for (const [name, bytes] of wanted) writeFileSync(join(TARGET, name), bytes);
}
