// Playground: talk to a model through the gateway and see, turn by turn, which route answered and what it cost; or ask
// two models the same. Conversations are kept by the gateway and belong to whoever began them.
import { html, useEffect, useRef, useState } from "../view.js";
import { get, pages, part, post, remove } from "../api.js";
import { duration, plural, usd } from "../format.js";
import { Ago, RouteBadge, RunLink } from "../parts/bits.js";
import { ComparePanel } from "../parts/compare.js";
import { ModelField } from "../parts/model-field.js";
import { TextField } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { PageHead, Tabs } from "../parts/page.js";
import { Empty, Failure, Skeleton } from "../parts/states.js";
import { refine } from "../router.js";
import { models, say } from "../store/conversation.js";
import { attempt } from "../store/toast.js";
import { useLoad, usePages } from "../store/use.js";

/** @param {{ here: import("../router.js").Place }} props */
export default function Playground({ here }) {
  const tab = here.query.get("tab") ?? "chat";
  const known = useLoad(() => models(), []);
  return html`<${PageHead} title="Playground" about="Through the same gateway as your agents: judged, routed, recorded. Ask the same twice and watch the route change." />
    <${Tabs} label="Playground" tabs=${[["chat", "Conversation"], ["compare", "Compare two models"]]} current=${tab} href=${(/** @type {string} */ key) => `#/playground?tab=${key}`} />
    ${tab === "compare" ? html`<${ComparePanel} models=${known.data ?? []} />` : html`<${Chat} here=${here} models=${known.data ?? []} />`}`;
}

/** @param {{ here: import("../router.js").Place, models: string[] }} props */
function Chat({ here, models: known }) {
  const list = usePages(pages("/api/v1/conversations", "conversations", { limit: 50 }), []);
  const id = here.query.get("c");
  const choose = (/** @type {string | null} */ next) => refine({ tab: "chat", c: next });
  async function drop(/** @type {any} */ conversation) {
    await attempt("Delete", () => remove(`/api/v1/conversations/${part(conversation.id)}`), "The conversation is deleted");
    if (conversation.id === id) choose(null);
    list.reload();
  }
  return html`<div class="chat"><aside class="card" aria-label="Conversations"><div class="chat-new"><button type="button" class="button" onClick=${() => choose(null)}><${Icon} name="plus" />New conversation</button></div>
      ${list.error ? html`<div class="body"><${Failure} error=${list.error} what="Conversations could not be loaded." retry=${list.reload} /></div>` : !list.begun ? html`<${Skeleton} lines=${4} />` : list.items.length === 0 ? html`<p class="body faint">Conversations are kept here.</p>`
      : html`<ul class="choices">${list.items.map((conversation) => html`<li key=${conversation.id}><button type="button" aria-pressed=${String(conversation.id === id)} onClick=${() => choose(conversation.id)}><strong class="truncate">${conversation.title ?? "Untitled"}</strong><span class="row between small faint"><span>${plural(conversation.turns, "turn")} · ${usd(conversation.costUsd)}</span><${Ago} at=${conversation.updatedAt} /></span></button>
        <button type="button" class="button quiet icon-only small" aria-label=${`Delete ${conversation.title ?? "conversation"}`} onClick=${() => drop(conversation)}><${Icon} name="trash" /></button></li>`)}</ul>${list.next && html`<div class="more"><button type="button" class="button small" onClick=${list.more}>Show older</button></div>`}`}</aside>
    <${Conversation} key=${id ?? "new"} id=${id} models=${known} begun=${(/** @type {string} */ next) => choose(next)} changed=${list.reload} /></div>`;
}

/** @typedef {{ content: string | null, reply: string | null, route: string | null, runId?: string, costUsd?: number | null, savedUsd?: number, latencyMs?: number, model?: string, live?: boolean }} Said */

// What is being said survives that a new conversation gets its address while its first answer comes.
/** @type {{ conversation: any, content: string, model: string } | null} */
let handedOver = null;

/** @param {{ id: string | null, models: string[], begun: (id: string) => void, changed: () => void }} props */
function Conversation({ id, models: known, begun, changed }) {
  const detail = useLoad(async (signal) => {
    // Asked for while its first answer comes, the gateway may or may not know that turn already: it would stand here twice.
    if (handedOver?.conversation.id === id) return { conversation: handedOver?.conversation, turns: [] };
    return id ? get(`/api/v1/conversations/${part(id)}`, {}, signal) : { conversation: null, turns: [] };
  }, [id]);
  const [model, setModel] = useState(/** @type {string | null} */ (null));
  const [system, setSystem] = useState("");
  const [draft, setDraft] = useState("");
  const [extra, setExtra] = useState(/** @type {Said[]} */ ([]));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const end = useRef(/** @type {HTMLDivElement | null} */ (null));
  const turns = [...(detail.data?.turns ?? []), ...extra];
  const usual = detail.data?.conversation?.model || known[0] || "gpt-4o";
  const asked = model?.trim() || usual;
  const waits = busy || (id !== null && !detail.data);
  useEffect(() => { end.current?.scrollIntoView({ block: "end" }); }, [turns.length, extra[extra.length - 1]?.reply]);

  async function speak(/** @type {string} */ to, /** @type {string} */ content, /** @type {string} */ by) {
    setBusy(true);
    setError(null);
    setExtra((before) => [...before, { content, reply: "", route: null, model: by, live: true }]);
    const update = (/** @type {Partial<Said>} */ next) => setExtra((before) => [...before.slice(0, -1), { ...before[before.length - 1], ...next }]);
    try {
      const turn = await say(to, content, by, (reply, route) => update({ reply, route }), new AbortController().signal);
      update({ ...(turn ?? {}), live: false });
      changed();
    } catch (problem) {
      // What failed or was blocked is not kept: the words go back to where they were typed.
      setExtra((before) => before.slice(0, -1));
      setDraft(content);
      setError(problem);
    }
    setBusy(false);
  }
  useEffect(() => {
    if (!handedOver || handedOver.conversation.id !== id) return;
    const { content, model: by } = handedOver;
    handedOver = null;
    if (id) speak(id, content, by);
  }, [id]);

  async function submit(/** @type {Event} */ event) {
    event.preventDefault();
    const content = draft.trim();
    if (!content || waits) return;
    setDraft("");
    if (id) return speak(id, content, asked);
    setBusy(true);
    try {
      const { conversation } = await post("/api/v1/conversations", { model: asked, system: system.trim() || null });
      handedOver = { conversation, content, model: asked };
      begun(conversation.id);
    } catch (problem) { setError(problem); setDraft(content); setBusy(false); }
    return undefined;
  }
  const shownSystem = detail.data?.conversation?.system;
  return html`<section class="card chat-main" aria-label="Conversation">
    <div class="chat-log" role="log" aria-live="polite" tabindex="0">
      ${shownSystem && html`<p class="small faint wrap-anywhere">Told before everything else: ${shownSystem}</p>`}
      ${detail.error ? html`<${Failure} error=${detail.error} retry=${detail.reload} />` : id && !detail.data ? html`<${Skeleton} lines=${5} />` : turns.length === 0 ? html`<${Empty} title="Ask something"><p>Each answer says which route gave it and what it cost. Ask the same again to see the cache answer.</p><//>` : turns.map((turn, i) => html`<${Turn} key=${turn.runId ?? `live-${i}`} turn=${turn} />`)}
      ${error && html`<${Failure} error=${error} what="The gateway refused." />`}<div ref=${end} /></div>
    <form class="chat-form" onSubmit=${submit}>
      ${!id && html`<${TextField} label="Instructions" rows=${2} value=${system} onInput=${setSystem} placeholder="You are a support agent. Answer in one sentence." />`}
      <label class="visually-hidden" for="message">Message</label><textarea id="message" class="input" rows=${3} placeholder="Where is my parcel?" value=${draft} onInput=${(/** @type {Event} */ event) => setDraft(/** @type {HTMLTextAreaElement} */ (event.target).value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event); }} />
      <div class="row wrap between"><${ModelField} label="Model" value=${model ?? usual} models=${known} onInput=${setModel} /><button type="submit" class="button primary" disabled=${waits || !draft.trim()}><${Icon} name="send" />Send</button></div></form></section>`;
}

/** @param {{ turn: Said }} props */
const Turn = ({ turn }) => html`<article class="turn"><p class="said mine">${turn.content ?? "forgotten"}</p><div class="said theirs">${turn.reply === null ? html`<span class="faint">forgotten</span>` : turn.reply || html`<span class="bone" style=${{ width: "8rem" }} />`}</div>
  <p class="turn-foot small faint"><${RouteBadge} route=${turn.route} plain /> ${turn.model}${turn.live ? html` · <span role="status">answering</span>` : html` · ${turn.savedUsd ? html`<span class="good">saved ${usd(turn.savedUsd)}</span>` : usd(turn.costUsd)} · ${duration(turn.latencyMs)} · <${RunLink} run=${turn.runId} />`}</p></article>`;
