/** Small pieces that several views are made of. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { now } from "./browser.ts";
import { ApiError } from "./client.ts";

/** What a view waits for. `data` stays while it is loaded anew. */
export interface Loaded<T> {
  data: T | null;
  error: Error | null;
  loading: boolean;
  reload(): void;
}

/** Loads when the view is drawn first and when one of `keys` changes. */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "reload">>({
    data: null,
    error: null,
    loading: true,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const gone = new AbortController();
    setState((last) => ({ ...last, loading: true }));
    load(gone.signal).then(
      (data) => setState({ data, error: null, loading: false }),
      (error) => {
        if (gone.signal.aborted) return;
        setState((last) => ({ ...last, error, loading: false }));
      },
    );
    return () => gone.abort();
  }, [...keys, turn]);
  return { ...state, reload: () => setTurn((last) => last + 1) };
}

/** A button's work: whether it goes on, and how it failed. */
export interface Action {
  busy: boolean;
  error: Error | null;
  run(work: () => Promise<void>): void;
}

/** One piece of work at a time; a second wish meanwhile is not heard. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const run = async (work: () => Promise<void>) => {
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, run };
}

/** A failure with all that helps whoever reports it. */
export function ErrorNote({ error, lead, onRetry }: {
  error: Error;
  /** Said instead of the failure's own words. */
  lead?: string;
  onRetry?: () => void;
}) {
  return (
    <div class="note bad" role="alert">
      <p>{lead ?? error.message}</p>
      {error instanceof ApiError && <ApiErrorFacts error={error} />}
      {onRetry && (
        <p>
          <button type="button" onClick={onRetry}>Try again</button>
        </p>
      )}
    </div>
  );
}

function ApiErrorFacts({ error }: { error: ApiError }) {
  return (
    <>
      {error.problems.length > 0 && (
        <ul>
          {error.problems.slice(0, 10).map(({ code, message }, i) => (
            <li key={i}>
              {message} <code>{code}</code>
            </li>
          ))}
        </ul>
      )}
      <ErrorFacts error={error} />
    </>
  );
}

/** Code, status and request id: what a report to the operator should name. */
export function ErrorFacts({ error }: { error: ApiError }) {
  return (
    <p class="facts">
      <code>{error.code}</code> · {error.status}
      {error.requestId && (
        <>
          {" "}· request <code>{error.requestId}</code>
        </>
      )}
    </p>
  );
}

/** What a view shows of something loaded: a failure, or nothing yet, or it. */
export function Await<T>({ loaded, children }: {
  loaded: Loaded<T>;
  /** Not called before there is something. */
  children: (data: NonNullable<T>) => ComponentChildren;
}) {
  const { data, error, reload } = loaded;
  return (
    <>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {data == null ? !error && <p class="quiet">Loading…</p> : children(data)}
    </>
  );
}

// Swedish writes dates as ISO 8601 does, which nobody reads in the wrong order.
const LOCAL = new Intl.DateTimeFormat("sv-SE", {
  dateStyle: "short",
  timeStyle: "medium",
});
const NUMBER = new Intl.NumberFormat("en");

/** A number with thousands apart. */
export function count(value: number): string {
  return NUMBER.format(value);
}

/** `1 product`, `2 products`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Bytes for people. */
export function bytes(size: number): string {
  if (size < 1_000) return plural(size, "byte");
  if (size < 1_000_000) return `${(size / 1_000).toFixed(1)} kB`;
  return `${(size / 1_000_000).toFixed(1)} MB`;
}

/** Seconds for people. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** A moment in the time zone of whoever looks; the title has it in UTC. */
export function Moment({ iso }: { iso: string | null }) {
  const at = iso === null ? NaN : Date.parse(iso);
  if (iso === null || Number.isNaN(at)) return <span class="quiet">–</span>;
  return <time dateTime={iso} title={iso}>{LOCAL.format(at)}</time>;
}

/** Seconds since or until a moment, for people. */
export function secondsUntil(iso: string): number {
  return (Date.parse(iso) - now()) / 1_000;
}

const TONES: Readonly<Record<string, string>> = {
  active: "good",
  cancelled: "plain",
  completed: "good",
  completed_with_errors: "warn",
  created: "good",
  deleted: "warn",
  delivered: "good",
  disabled: "bad",
  exhausted: "bad",
  failed: "bad",
  failing: "bad",
  held: "warn",
  in_stock: "good",
  out_of_stock: "warn",
  paused: "warn",
  processing: "busy",
  refused: "bad",
  retrying: "warn",
  revoked: "bad",
  sending: "busy",
  stored: "good",
  suspended: "bad",
  updated: "busy",
};

/** A state as a word in its colour; the word alone says it, too. */
export function State({ of }: { of: string }) {
  return (
    <span class={`state ${TONES[of] ?? "plain"}`}>
      {of.replaceAll("_", " ")}
    </span>
  );
}

/** One figure with its name. */
export function Figure({ label, value, tone = "", note }: {
  label: string;
  value: string;
  tone?: string;
  note?: string;
}) {
  return (
    <div class={`figure ${tone}`}>
      <dt>{label}</dt>
      <dd>{value}{note && <small>{note}</small>}</dd>
    </div>
  );
}

/** A view's name; it gets the focus when one comes to the view. */
export function Title({ children }: { children: ComponentChildren }) {
  return <h1 tabIndex={-1}>{children}</h1>;
}

/**
 * What happened, read out by a screen reader. The element has to be there
 * before its text is.
 */
export function Announcer({ text }: { text: string }) {
  return <p class="unseen" role="status" aria-live="polite">{text}</p>;
}

/** A button that asks once more before it does what cannot be undone. */
export function SureButton({ label, question, onSure, disabled }: {
  label: string;
  question: string;
  onSure: () => void;
  disabled?: boolean;
}) {
  const [asked, setAsked] = useState(false);
  const sure = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (asked) sure.current?.focus();
  }, [asked]);
  if (!asked) {
    return (
      <button
        type="button"
        class="danger"
        disabled={disabled}
        onClick={() => setAsked(true)}
      >
        {label}
      </button>
    );
  }
  const answer = (yes: boolean) => {
    setAsked(false);
    if (yes) onSure();
  };
  return (
    <span class="row" role="group" aria-label={question}>
      <span>{question}</span>
      <button
        type="button"
        class="danger"
        ref={sure}
        onClick={() => answer(true)}
      >
        {label}
      </button>
      <button type="button" onClick={() => answer(false)}>Keep</button>
    </span>
  );
}
