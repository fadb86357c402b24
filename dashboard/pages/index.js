// The table of pages: what is in the side bar, which letter goes there, and which file draws it.
//
// To add a page: a file in this folder that exports a component, and a line here.

/** @typedef {{ path: string, title: string, icon: string, key: string, group: string, load: () => Promise<{ default: any }> }} Page */

/** @type {Page[]} */
export const PAGES = [
  { path: "", title: "Overview", icon: "overview", key: "o", group: "Observe", load: () => import("./overview.js") },
  { path: "runs", title: "Runs", icon: "runs", key: "r", group: "Observe", load: () => import("./runs.js") },
  { path: "playground", title: "Playground", icon: "playground", key: "p", group: "Observe", load: () => import("./playground.js") },
  { path: "patterns", title: "Patterns", icon: "patterns", key: "t", group: "Learn", load: () => import("./patterns.js") },
  { path: "artifacts", title: "Artifacts", icon: "artifacts", key: "f", group: "Learn", load: () => import("./artifacts.js") },
  { path: "cache", title: "Cache", icon: "cache", key: "c", group: "Learn", load: () => import("./cache.js") },
  { path: "approvals", title: "Approvals", icon: "approvals", key: "a", group: "Govern", load: () => import("./approvals.js") },
  { path: "governance", title: "Governance", icon: "governance", key: "v", group: "Govern", load: () => import("./governance.js") },
  { path: "agents", title: "Agents", icon: "agent", key: "n", group: "Govern", load: () => import("./agents.js") },
  { path: "audit", title: "Audit", icon: "audit", key: "d", group: "Govern", load: () => import("./audit.js") },
  { path: "jobs", title: "Jobs", icon: "jobs", key: "j", group: "Operate", load: () => import("./jobs.js") },
  { path: "keys", title: "Keys", icon: "keys", key: "k", group: "Operate", load: () => import("./keys.js") },
  { path: "people", title: "People", icon: "people", key: "u", group: "Operate", load: () => import("./people.js") },
  { path: "settings", title: "Settings", icon: "settings", key: "s", group: "Operate", load: () => import("./settings.js") },
];

/** Pages about one thing, below the list they belong to: `#/runs/run_…`. @type {Record<string, () => Promise<{ default: any }>>} */
export const DETAILS = {
  runs: () => import("./run.js"),
  patterns: () => import("./pattern.js"),
  artifacts: () => import("./artifact.js"),
  agents: () => import("./agent.js"),
};

export const GROUPS = ["Observe", "Learn", "Govern", "Operate"];
