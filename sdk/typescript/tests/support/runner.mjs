// Runs every case in whichever runtime this is, and writes what was wrong with each as one line of JSON.
import process from "node:process";
import * as sdk from "../../dist/index.js";
import { attempt, cases } from "../suite/index.mjs";

const world = JSON.parse(process.env.PUNK_SDK_WORLD);
const results = {};
for (const { name } of cases) results[name] = await attempt(name, sdk, world);
console.log(`results ${JSON.stringify(results)}`);
