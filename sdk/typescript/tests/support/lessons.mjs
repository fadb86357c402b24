// Teaches a gateway: enough of one kind of work to prove a program for it, and too little of another.

const LABELS = { proven: ["red", "green", "blue"], unproven: ["north", "south", "west"] };
/** How many at a time; the gateway decides alone how many it does at once. */
const AT_ONCE = 8;

/** The instructions that make one pattern. */
function lesson(labels) {
  return { role: "system", content: `Choose one of these labels: ${labels.join(", ")}. Answer with the label alone.` };
}

async function ask(url, labels, number) {
  const draw = Number((BigInt(number) * 0x9e3779b97f4a7c15n & 0xffffffffffffffffn) >> 33n);
  const thing = ["door", "lamp", "chair", "table"][Math.floor(draw / 3) % 4];
  const text = `please paint the ${thing} number ${number} ${labels[draw % 3]} today`;
  const body = JSON.stringify({ model: "gpt-4o", messages: [lesson(labels), { role: "user", content: text }] });
  const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", body });
  if (!answer.ok) throw new Error(`a lesson was refused: ${await answer.text()}`);
  await answer.text();
}

async function asked(url, labels, from, count) {
  for (let number = from; number < from + count; number += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, more) => ask(url, labels, number + more)));
  }
}

/** The artifacts of the gateway, after a tick of its learner, by what their pattern is called. */
async function learned(url) {
  const tick = await fetch(`${url}/api/v1/learning/tick`, { method: "POST" });
  if (!tick.ok) throw new Error(`a tick was refused: ${await tick.text()}`);
  const { artifacts } = await (await fetch(`${url}/api/v1/artifacts`)).json();
  const { patterns } = await (await fetch(`${url}/api/v1/patterns`)).json();
  return (labels) => {
    const pattern = patterns.find(({ name }) => name.includes(labels[0]));
    return artifacts.find(({ patternId }) => patternId === pattern?.id);
  };
}

/** Teaches it; gives the artifact that has passed every gate, the one that has not, and the first one's instructions. */
export async function teach(url) {
  const { proven, unproven } = LABELS;
  await asked(url, unproven, 1, 64);
  for (let at = 1; at < 900; at += 64) {
    await asked(url, proven, at, 64);
    const artifact = await learned(url);
    if (artifact(proven)?.state === "eligible" && artifact(unproven)) {
      if (artifact(unproven).state === "eligible") throw new Error("the second pattern was proven too: teach it less");
      return { proven: artifact(proven).id, unproven: artifact(unproven).id, lesson: lesson(proven) };
    }
  }
  throw new Error("nothing was proven");
}
