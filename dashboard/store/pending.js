// How many questions wait for people: shown beside the name of their page, wherever one is.
import { get } from "../api.js";
import { Cell } from "../view.js";
import { follow } from "./live.js";
import { scope, visitor } from "./session.js";

export const pendingCount = new Cell(0);

export async function countPending() {
  const kind = visitor.value.kind;
  if (kind === "unknown" || kind === "stranger") return pendingCount.set(0);
  try {
    const { approvals } = await get("/api/v1/approvals", { status: "pending", limit: 100 });
    pendingCount.set(approvals.length);
  } catch { pendingCount.set(0); /* who may not see them is not told of them */ }
}

/** @type {(() => void) | null} */
let unfollow = null;

/** Asks once, and again whenever a run ends in a question or a question is answered. */
export function watchPending() {
  scope.listen(() => {
    unfollow?.();
    unfollow = null;
    const kind = visitor.value.kind;
    if (kind === "unknown" || kind === "stranger") return;
    countPending();
    unfollow = follow(({ events, runs }) => {
      const touched = events.some((event) => event.type.startsWith("audit.approval") || event.type.includes("approval")) || runs.some((run) => run.route === "approval_required");
      if (touched) countPending();
    });
  });
}
