// Hooks that pages read the world with.
import { useCallback, useEffect, useRef, useState } from "../view.js";

/**
 * The value of a cell; the component is drawn again when it changes.
 * @template T
 * @param {import("../view.js").Cell<T>} cell
 * @returns {T}
 */
export function useCell(cell) {
  const [, draw] = useState(0);
  const drawn = cell.value;
  useEffect(() => {
    const again = () => draw((count) => count + 1);
    // Effects come after the page is painted: what changed until then was heard by nobody.
    if (!Object.is(cell.value, drawn)) again();
    return cell.listen(again);
  }, [cell]);
  return cell.value;
}

/**
 * @template T
 * @typedef {{ data: T | null, error: any, loading: boolean, reload: () => Promise<void>, put: (value: T) => void }} Loaded
 */

/**
 * Loads something and keeps it. What was there stays on the page while it is loaded again, so nothing flickers.
 * An answer that comes after a newer question was asked is dropped.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {unknown[]} inputs
 * @returns {Loaded<T>}
 */
export function useLoad(load, inputs) {
  const [state, setState] = useState(/** @type {{data: T | null, error: any, loading: boolean}} */ ({ data: null, error: null, loading: true }));
  const current = useRef(/** @type {AbortController | null} */ (null));
  const reload = useCallback(async () => {
    current.current?.abort();
    const controller = new AbortController();
    current.current = controller;
    setState((before) => ({ ...before, loading: true }));
    try {
      const data = await load(controller.signal);
      if (!controller.signal.aborted) setState({ data, error: null, loading: false });
    } catch (error) {
      if (!controller.signal.aborted) setState((before) => ({ data: before.data, error, loading: false }));
    }
  }, inputs);
  useEffect(() => {
    setState({ data: null, error: null, loading: true });
    reload();
    return () => current.current?.abort();
  }, [reload]);
  const put = useCallback((/** @type {T} */ data) => setState({ data, error: null, loading: false }), []);
  return { ...state, reload, put };
}

/**
 * A list that is read page by page, by keyset: `next` of one page is `before` of the following.
 * @template T
 * @param {(cursor: string | null, signal: AbortSignal) => Promise<{ items: T[], next: string | null }>} load
 * @param {unknown[]} inputs
 */
export function usePages(load, inputs) {
  const [state, setState] = useState(/** @type {{items: T[], next: string | null, error: any, loading: boolean, begun: boolean}} */ (
    { items: [], next: null, error: null, loading: true, begun: false }));
  const current = useRef(/** @type {AbortController | null} */ (null));
  const busy = useRef(false);

  const fetchPage = useCallback(async (/** @type {string | null} */ cursor, /** @type {boolean} */ fresh) => {
    if (busy.current && !fresh) return;
    if (fresh) current.current?.abort();
    const controller = fresh || !current.current ? new AbortController() : current.current;
    current.current = controller;
    busy.current = true;
    setState((before) => ({ ...before, loading: true, error: null }));
    try {
      const page = await load(cursor, controller.signal);
      if (controller.signal.aborted) return;
      setState((before) => ({ items: fresh ? page.items : [...before.items, ...page.items], next: page.next, error: null, loading: false, begun: true }));
    } catch (error) {
      if (!controller.signal.aborted) setState((before) => ({ ...before, error, loading: false, begun: true }));
    } finally {
      if (current.current === controller) busy.current = false;
    }
  }, inputs);

  useEffect(() => {
    setState({ items: [], next: null, error: null, loading: true, begun: false });
    fetchPage(null, true);
    return () => current.current?.abort();
  }, [fetchPage]);

  const more = useCallback(() => { if (state.next !== null && !busy.current) fetchPage(state.next, false); }, [state.next, fetchPage]);
  const reload = useCallback(() => fetchPage(null, true), [fetchPage]);
  const change = useCallback((/** @type {(items: T[]) => T[]} */ edit) => setState((before) => ({ ...before, items: edit(before.items) })), []);
  return { ...state, more, reload, change };
}
