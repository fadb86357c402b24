// Makes `src/generated/openapi.ts`: the types of what the SDK sends and gets, from the gateway's own description.
//
// Only schemas that the listed operations reach are taken, so that a change elsewhere in the API changes nothing here.
// `node scripts/generate.mjs` writes the file; a test compares it with what `render` gives.
//
// To use one more endpoint: its operationId in OPERATIONS.
import { readFile, writeFile } from "node:fs/promises";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import openapiTypeScript, { astToString } from "openapi-typescript";

const DESCRIPTION = new URL("../../../docs/reference/openapi.json", import.meta.url);
export const GENERATED = new URL("../src/generated/openapi.ts", import.meta.url);

/** The endpoints that the SDK calls, but for the vendors' wires, whose shapes are not ours to describe. */
const OPERATIONS = [
  "checkToolCache",
  "createFeedback",
  "createMemoryInfluence",
  "createTraceEvent",
  "getArtifact",
  "getCacheStats",
  "getRun",
  "getSavings",
  "ingestPrompt",
  "learningTick",
  "listArtifacts",
  "listPatterns",
  "promoteArtifact",
  "storeToolResult",
];

const HEADER = `// Generated from docs/reference/openapi.json by \`npm run generate\`. Do not edit: a test compares the two.
`;

/** The text of the generated file. */
export async function render() {
  const description = JSON.parse(await readFile(DESCRIPTION, "utf8"));
  const schemas = reachable(description, operations(description));
  const part = { openapi: description.openapi, info: description.info, paths: {}, components: { schemas } };
  const syntax = await openapiTypeScript(part, { defaultNonNullable: false });
  // Without paths the other declarations are empty, and nobody needs them.
  const [declaration] = /^export interface components \{[^]*?^\}$/m.exec(astToString(syntax)) ?? [];
  if (!declaration) throw new Error("openapi-typescript no longer declares `components`: adapt scripts/generate.mjs");
  return `${HEADER}${declaration.replace(/^ {4}\w+: never;\n/gm, "")}\n`;
}

function operations(description) {
  const all = Object.values(description.paths).flatMap((path) => Object.values(path));
  return OPERATIONS.map((id) => {
    const operation = all.find((one) => one.operationId === id);
    if (!operation) throw new Error(`docs/reference/openapi.json has no operation ${id}`);
    return [operation.requestBody, ...Object.entries(operation.responses).filter(([status]) => status < 400)];
  });
}

/** The schemas that are mentioned in `value`, and those that they mention, by name. */
function reachable(description, value) {
  const names = new Set();
  const visit = (text) => {
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (names.has(name)) continue;
      names.add(name);
      visit(JSON.stringify(description.components.schemas[name]));
    }
  };
  visit(JSON.stringify(value));
  return Object.fromEntries([...names].sort().map((name) => [name, description.components.schemas[name]]));
}

if (argv[1] === fileURLToPath(import.meta.url)) await writeFile(GENERATED, await render());
