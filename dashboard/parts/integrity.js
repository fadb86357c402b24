// The proof of a run, checked in this browser: the packet is fetched, hashed and held against the log's root here.
import { html, useEffect, useState } from "../view.js";
import { send } from "../api.js";
import { Icon } from "./icon.js";
import { Card } from "./page.js";
import { TextField } from "./form.js";
import { Failure, Notice, Skeleton } from "./states.js";

const TRUST = "punk.trust";

/** @param {{ runId: string, events: any[], finished: boolean }} props */
export function Integrity({ runId, events, finished }) {
  const [trustText, setTrustText] = useState(localStorage.getItem(TRUST) ?? "");
  const [asking, setAsking] = useState(false);
  const [state, setState] = useState(/** @type {{ result: any, error: any, bytes: Uint8Array | null, busy: boolean }} */ ({ result: null, error: null, bytes: null, busy: false }));

  async function verify() {
    setState((before) => ({ ...before, busy: true, error: null }));
    try {
      const { LEFT_OUT, verifyPacket } = await import("../verify/packet.js");
      const { readTrust, hasEd25519 } = await import("../verify/trust.js");
      const bytes = new Uint8Array(await (await send("GET", `/api/v1/runs/${runId}/evidence-packet`)).arrayBuffer());
      const wanted = trustText.trim() !== "";
      if (wanted && !(await hasEd25519())) throw new Error("This browser has no Ed25519, so the signatures cannot be checked here. Use another, or punk verify.");
      const trust = wanted ? await readTrust(trustText) : null;
      setState({ result: { ...(await verifyPacket(bytes, trust, events)), leftOut: LEFT_OUT }, error: null, bytes, busy: false });
    } catch (/** @type {any} */ error) {
      setState({ result: null, error: error.hint === undefined ? { message: error.message, hint: "" } : error, bytes: null, busy: false });
    }
  }
  useEffect(() => { setState({ result: null, error: null, bytes: null, busy: false }); }, [runId]);

  if (!globalThis.crypto?.subtle) return html`<${Card} title="Integrity"><${Notice} tone="warn">Browsers verify on https and on this machine only. Download the packet and run <code>punk verify</code>.<//><//>`;
  const download = () => save(state.bytes, runId);
  return html`<${Card} title="Integrity" note="Verified in this browser, from the packet alone"
      actions=${html`<button type="button" class="button small" disabled=${!finished || state.busy} onClick=${verify}><${Icon} name="shield" />Verify</button>`}>
    ${!finished ? html`<p class="soft">A run can be proven once it has ended.</p>` : state.error ? html`<${Failure} error=${state.error} what="The packet could not be verified." retry=${verify} />`
      : state.busy ? html`<${Skeleton} lines=${4} label="Verifying" />`
      : !state.result ? html`<p class="soft">The packet holds every event, its hash, and the proof that the log contains it. Without a trust file this shows that it agrees with itself; who signed it takes the file.</p>`
      : html`<${Result} result=${state.result} />`}
    <div class="row wrap integrity-foot">
      ${state.bytes && html`<button type="button" class="button small" onClick=${download}><${Icon} name="download" />Download packet</button>`}
      <button type="button" class="button quiet small" aria-expanded=${String(asking)} onClick=${() => setAsking(!asking)}>${trustText.trim() ? "Trust file is set" : "Add a trust file"}</button></div>
    ${asking && html`<${TextField} label="Trust file" mono rows=${4} value=${trustText} placeholder="log punk.local/ten_…+66bb74a9+AU/H7QRQ…" hint="From your operator, by a way you trust: punk keys trust. It stays in this browser."
      onInput=${(/** @type {string} */ value) => { setTrustText(value); if (value.trim()) localStorage.setItem(TRUST, value); else localStorage.removeItem(TRUST); }} />`}
  <//>`;
}

/** @param {{ result: any }} props */
function Result({ result }) {
  const signed = result.findings.some((/** @type {any} */ finding) => finding.step === "signature" && finding.state === "held");
  return html`<div class="stack tight" role="status"><p class=${!result.valid ? "verdict bad" : signed ? "verdict good" : "verdict warn"}><${Icon} name=${result.valid ? (signed ? "check" : "info") : "warning"} />
      <strong>${!result.valid ? "Broken" : signed ? "Valid and signed" : "Consistent, signatures not checked"}</strong></p>
    <ul class="findings">${result.findings.map((/** @type {any} */ finding) => html`<li key=${finding.step} data-state=${finding.state}>
      <${Icon} name=${finding.state === "held" ? "check" : finding.state === "broken" ? "close" : "info"} /><div>${finding.title}${finding.code && html` <code>${finding.code}</code>`}<br /><span class="small faint wrap-anywhere">${finding.detail}</span></div>
      <span class="visually-hidden">${finding.state}</span></li>`)}</ul>${result.valid && html`<p class="small faint">${result.leftOut}</p>`}</div>`;
}

/** @param {Uint8Array | null} bytes @param {string} runId */
export function save(bytes, runId) {
  if (!bytes) return;
  const url = URL.createObjectURL(new Blob([/** @type {any} */ (bytes)], { type: "application/json" }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = `${runId}.packet.json`;
  anchor.click();
  URL.revokeObjectURL(url);
}
