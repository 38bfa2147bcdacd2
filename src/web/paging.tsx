/** Lists in pages, each with a cursor to the next. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "./client.ts";
import { ErrorNote } from "./parts.tsx";
import { childrenOf, find, textOf } from "./xml.ts";

/** The request for a list and the elements of its answer. */
export interface ListOf<T> {
  /** Path and query, without a cursor. */
  path: string;
  /** The element around the rows; empty if they are children of the root. */
  list: string;
  /** The name of a row's element. */
  row: string;
  read(element: Element): T;
}

export interface Rows<T> {
  /** null while the first page is loading. */
  rows: readonly T[] | null;
  busy: boolean;
  error: Error | null;
  /** Loads the next page; null if there is none. */
  more: (() => void) | null;
  /** The cursor of the next page; null if there is none. */
  next: string | null;
  reload(): void;
}

/** The rows of a list, page by page; reloaded when its path changes. */
export function useRows<T>(client: Client, list: ListOf<T>): Rows<T> {
  const [rows, setRows] = useState<readonly T[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [busy, setBusy] = useState(true);
  const [error, setError] = useState<Error | null>(null);
  const request = useRef(new AbortController());

  const load = async (before: readonly T[], cursor: string | null) => {
    request.current.abort();
    request.current = new AbortController();
    const { signal } = request.current;
    setBusy(true);
    setError(null);
    try {
      const page = await loadFilled(client, list, cursor, signal);
      setRows([...before, ...page.rows]);
      setNext(page.next);
    } catch (failure) {
      if (signal.aborted) return;
      setError(failure as Error);
    }
    setBusy(false);
  };

  useEffect(() => {
    load([], null);
    return () => request.current.abort();
  }, [client, list.path]);

  return {
    rows,
    busy,
    error,
    next,
    more: next === null ? null : () => load(rows ?? [], next),
    reload: () => load([], null),
  };
}

/** With a filter, pages may be empty before the end. */
async function loadFilled<T>(
  client: Client,
  list: ListOf<T>,
  after: string | null,
  signal: AbortSignal,
): Promise<Page<T>> {
  for (;;) {
    const page = await loadPage(client, list, after, signal);
    if (page.rows.length > 0 || page.next === null) return page;
    after = page.next;
  }
}

/** The first rows of a list: all of them, or at least `most`. */
export async function loadRows<T>(
  client: Client,
  list: ListOf<T>,
  most: number,
  signal: AbortSignal,
): Promise<{ rows: T[]; isWhole: boolean }> {
  const rows: T[] = [];
  for (let after: string | null = null;;) {
    const page: Page<T> = await loadPage(client, list, after, signal);
    for (const row of page.rows) rows.push(row);
    if (page.next === null) return { rows, isWhole: true };
    if (rows.length >= most) return { rows, isWhole: false };
    after = page.next;
  }
}

interface Page<T> {
  rows: T[];
  next: string | null;
}

async function loadPage<T>(
  client: Client,
  { path, list, row, read }: ListOf<T>,
  after: string | null,
  signal: AbortSignal,
): Promise<Page<T>> {
  const mark = path.includes("?") ? "&" : "?";
  const query = after === null
    ? ""
    : `${mark}after=${encodeURIComponent(after)}`;
  const root = await client.read(path + query, { signal });
  const around = list === "" ? root : find(root, list);
  return {
    rows: childrenOf(around, row).map(read),
    next: textOf(root, "next") ?? textOf(around, "next"),
  };
}

/** The end of a list: an error, and the button for more. */
export function ListFoot<T>({ list, empty }: {
  list: Rows<T>;
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
