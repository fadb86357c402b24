// Makes `dist/` anew: the modules as they are loaded, and their types.
import { spawnSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
// What a source that was renamed left behind would be published as well.
await rm(`${root}/dist`, { recursive: true, force: true });
const compiler = `${root}/node_modules/typescript/bin/tsc`;
process.exitCode = spawnSync(process.execPath, [compiler, "--project", root], { stdio: "inherit" }).status ?? 1;
