// Writes dashboard/types/api.d.ts: the shapes of the OpenAPI document as TypeScript, so that the dashboard is checked
// against what the gateway promises.
//
//   node tests/browser/support/api-types.mjs           writes the file
//   node tests/browser/support/api-types.mjs --check   fails if the file is not what this would write
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const TARGET = join(ROOT, "dashboard/types/api.d.ts");

const nameOf = (reference) => reference.split("/").at(-1).replace(/[^A-Za-z0-9_]/g, "_");

/** The TypeScript of a JSON Schema. What it cannot say is `any`, never something narrower than the truth. */
function typeOf(schema) {
  if (schema === true || schema === undefined) return "any";
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return choices.map(typeOf).join(" | ");
  if (schema.allOf) return schema.allOf.map(typeOf).join(" & ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(" | ");
  switch (schema.type) {
    case "null": return "null";
    case "string": return "string";
    case "boolean": return "boolean";
    case "integer": case "number": return "number";
    case "array": return `Array<${typeOf(schema.items)}>`;
    case "object": return objectOf(schema);
    default: return schema.properties ? objectOf(schema) : "any";
  }
}

function objectOf({ properties, required = [], additionalProperties }) {
  if (!properties) return `Record<string, ${typeOf(additionalProperties === false ? true : additionalProperties)}>`;
  const members = Object.entries(properties).map(([name, schema]) =>
    `${JSON.stringify(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)}`);
  return `{ ${members.join("; ")} }`;
}

const { components } = JSON.parse(readFileSync(join(ROOT, "docs/reference/openapi.json"), "utf8"));
const lines = Object.entries(components.schemas).map(([name, schema]) => `export type ${nameOf(name)} = ${typeOf(schema)};`);
const text = `// Made from docs/reference/openapi.json by \`npm run types:dashboard\`; \`npm run check:dashboard\` compares.\n${lines.join("\n")}\n`;

if (process.argv[2] === "--check") {
  let current = "";
  try { current = readFileSync(TARGET, "utf8"); } catch { /* told below */ }
  if (current !== text) {
    console.error("dashboard/types/api.d.ts is not what openapi.json says; run `npm run types:dashboard`");
    process.exitCode = 1;
  }
} else {
  writeFileSync(TARGET, text);
}
