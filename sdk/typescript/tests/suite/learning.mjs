// What was learned from repeated work, and letting it serve, at a gateway that was taught before (`support/lessons.mjs`).
import { has, ok, same, shaped, thrown } from "./check.mjs";

const PATTERN = {
  id: "string",
  state: "string",
  fingerprints: "object",
  runCount: "number",
  averageCostUsd: "number",
  averageLatencyMs: "number",
  stabilityScore: "number",
  optimizableScore: "number",
};
const ARTIFACT = { id: "string", patternId: "string", state: "string", type: "string", confidence: "number", gates: "array", shadow: "object" };

export default [
  {
    name: "a tick of the learner says what came of it",
    async run({ Punk }, { taught }) {
      const report = await new Punk({ baseUrl: taught }).learningTick();
      shaped(report, { artifactsSynthesized: "number", promotionsEligible: "array", autoPromoted: "array" }, "report");
    },
  },
  {
    name: "patterns and artifacts are lists, with their states and scores",
    async run({ Punk }, { taught }) {
      const punk = new Punk({ baseUrl: taught });
      const [patterns, artifacts] = [await punk.patterns(), await punk.artifacts()];
      ok(patterns.length >= 2 && artifacts.length >= 2, `${patterns.length} patterns, ${artifacts.length} artifacts`);
      for (const pattern of patterns) shaped(pattern, PATTERN, "pattern");
      for (const artifact of artifacts) shaped(artifact, ARTIFACT, "artifact");
    },
  },
  {
    name: "an artifact is shown with its evidence and its pattern",
    async run({ Punk }, { taught, proven }) {
      const { artifact, evaluations, pattern } = await new Punk({ baseUrl: taught }).artifactDetail(proven);
      same([artifact.id, pattern.id], [proven, artifact.patternId]);
      ok(evaluations.length > 0, "there is no evidence");
      for (const one of evaluations) shaped(one, { runId: "string", at: "string", kind: "string", agreed: "boolean" }, "evaluation");
    },
  },
  {
    name: "an artifact that is not proven is not promoted, and the gates are named",
    async run({ Punk }, { taught, unproven }) {
      const error = await thrown(() => new Punk({ baseUrl: taught }).promoteArtifact(unproven));
      has(error.message, `Punk API POST /api/v1/artifacts/${unproven}/promote failed: 409 Conflict`);
      has(error.message, "punk_gate_not_satisfied");
    },
  },
  {
    name: "a proven artifact is promoted, and then answers",
    async run({ Punk }, { taught, proven, lesson }) {
      const punk = new Punk({ baseUrl: taught });
      const artifact = await punk.promoteArtifact(proven);
      same([artifact.id, artifact.state], [proven, "promoted"]);
      // At first every second answer is compared with the model's instead.
      for (let times = 0; times < 64; times += 1) {
        const text = `please paint the lamp number ${9000 + times} green today`;
        const messages = [lesson, { role: "user", content: text }];
        const answer = await punk.chat({ model: "gpt-4o", messages });
        if (answer.route !== "artifact") continue;
        const { run } = await punk.runDetail(answer.runId);
        return same(run.routeExplanation.artifact.artifactId, proven);
      }
      throw new Error("it never answered");
    },
  },
];
