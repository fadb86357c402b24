// The modules that the first page needs, from the imports in the files: a browser that is told of them at once need not
// find them one behind the other.
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const FOLDER = fileURLToPath(new URL("../../../dashboard", import.meta.url));

/** What a module imports, and what that imports, by name below dashboard/. */
export function needed(...names) {
  const found = new Set();
  const visit = (path) => {
    const name = relative(FOLDER, path);
    if (found.has(name)) return;
    found.add(name);
    for (const [, from] of readFileSync(path, "utf8").matchAll(/(?:^|[\n;}])\s*(?:import|export)\s*(?:[\w*{}\s,$]+from\s*)?"(\.[^"]+)"/g)) visit(join(dirname(path), from));
  };
  for (const name of names) visit(join(FOLDER, name));
  return [...found].sort();
}
