/** Lists that are loaded page by page, with a cursor. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorNote } from "./components.tsx";

/** One page of a list. */
export interface Page<T> {
  rows: readonly T[];
  /** The cursor of the next page; missing if there is none. */
  next?: string;
}

/** Loads the page after a cursor. */
export type LoadPage<T> = (
  after: string | undefined,
  signal: AbortSignal,
) => Promise<Page<T>>;

export interface LoadedRows<T> {
  /** The rows of all loaded pages; null while the first page is loading. */
  rows: readonly T[] | null;
  busy: boolean;
  error: Error | null;
  /** Loads the next page; null if there is none. */
  more: (() => void) | null;
  /** The cursor of the next page; missing if there is none. */
  next?: string;
  /** Loads the list again, with at least as many rows as are shown. */
  reload(): void;
}

/** Loads a list page by page, from the start whenever one of `keys` changes. */
export function useRows<T>(
  loadPage: LoadPage<T>,
  keys: readonly unknown[],
): LoadedRows<T> {
  const [rows, setRows] = useState<readonly T[] | null>(null);
  const [next, setNext] = useState<string>();
  const [busy, setBusy] = useState(true);
  const [error, setError] = useState<Error | null>(null);
  const request = useRef(new AbortController());
  const shown = useRef(0);

  const load = async (
    before: readonly T[],
    cursor: string | undefined,
    atLeast: number,
  ) => {
    request.current.abort();
    request.current = new AbortController();
    const { signal } = request.current;
    setBusy(true);
    setError(null);
    try {
      let page = await loadNonEmptyPage(loadPage, cursor, signal);
      let all = [...before, ...page.rows];
      while (page.next !== undefined && all.length < atLeast) {
        page = await loadNonEmptyPage(loadPage, page.next, signal);
        all = [...all, ...page.rows];
      }
      shown.current = all.length;
      setRows(all);
      setNext(page.next);
    } catch (failure) {
      if (signal.aborted) return;
      setError(failure as Error);
    }
    setBusy(false);
  };

  useEffect(() => {
    load([], undefined, 0);
    return () => request.current.abort();
  }, [...keys]);

  return {
    rows,
    busy,
    error,
    next,
    more: next === undefined ? null : () => load(rows ?? [], next, 0),
    reload: () => load([], undefined, shown.current),
  };
}

/** Loads pages until one has rows. Pages of a filtered list may be empty. */
async function loadNonEmptyPage<T>(
  loadPage: LoadPage<T>,
  after: string | undefined,
  signal: AbortSignal,
): Promise<Page<T>> {
  for (;;) {
    const page = await loadPage(after, signal);
    if (page.rows.length > 0 || page.next === undefined) return page;
    after = page.next;
  }
}

/** The end of a list: an error, a note, or a button that loads more rows. */
export function ListFoot<T>({ list, empty }: {
  list: LoadedRows<T>;
  /** Shown if there are no rows. */
  empty: ComponentChildren;
}) {
  const { rows, busy, error, more, reload } = list;
  return (
    <>
      {error && <ErrorNote error={error} onRetry={more ?? reload} />}
      {rows === null && busy && <p class="quiet">Loading…</p>}
      {rows?.length === 0 && !busy && <p class="quiet">{empty}</p>}
      {more && !error && (
        <p>
          <button type="button" disabled={busy} onClick={more}>
            {busy ? "Loading…" : "Show more"}
          </button>
        </p>
      )}
    </>
  );
}
