/** Small components that several views share. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../client/mod.ts";
import { now } from "../lib/browser.ts";
import { stateLabel } from "../lib/texts.ts";

/** Data that a view loads. `data` stays while it is reloaded. */
export interface Loaded<T> {
  data: T | null;
  error: Error | null;
  loading: boolean;
  reload(): void;
}

/** Loads at the first render and when one of `keys` changes. */
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

/** The action of a button: whether it is running, and its error. */
export interface Action {
  busy: boolean;
  error: Error | null;
  run(work: () => Promise<void>): void;
}

/** Runs one action at a time; ignores further clicks meanwhile. */
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

/** A form that `onSubmit` sends, not the browser. */
export function Form({ onSubmit, ...rest }:
  & Omit<JSX.IntrinsicElements["form"], "onSubmit">
  & { onSubmit: () => unknown }) {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    />
  );
}

/** An error with all facts that a report needs. */
export function ErrorNote({ error, lead, onRetry }: {
  error: Error;
  /** Shown instead of the error's own message. */
  lead?: string;
  onRetry?: () => void;
}) {
  return (
    <div class="note bad" role="alert">
      <p>{lead ?? errorSentence(error)}</p>
      {error instanceof ApiError && <ApiErrorFacts error={error} />}
      {onRetry && (
        <p>
          <button type="button" onClick={onRetry}>Try again</button>
        </p>
      )}
    </div>
  );
}

/** The message of an error, without problems that are listed below it. */
export function errorSentence(error: Error): string {
  return error instanceof ApiError ? error.title : error.message;
}

function ApiErrorFacts({ error }: { error: ApiError }) {
  return (
    <>
      {error.details.length > 0 && (
        <ul>
          {error.details.slice(0, 10).map(({ message }, i) => (
            <li key={i}>{message}</li>
          ))}
        </ul>
      )}
      <ErrorFacts error={error} />
    </>
  );
}

/** Code, status and request id of an error, for a report to the operator. */
export function ErrorFacts({ error }: { error: ApiError }) {
  return (
    <details class="facts">
      <summary>For a problem report</summary>
      <code>{error.code}</code> · {error.status}
      {error.requestId && (
        <>
          {" "}· request <code>{error.requestId}</code>
        </>
      )}
    </details>
  );
}

/** Draws an error, a note that data is loading, or the children. */
export function WhenLoaded<T>({ loaded, children }: {
  loaded: Loaded<T>;
  /** Called only once there is data. */
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

const MINUTES: Intl.DateTimeFormatOptions = {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
};
const TO_THE_MINUTE = new Intl.DateTimeFormat("en-GB", MINUTES);
const TO_THE_SECOND = new Intl.DateTimeFormat("en-GB", {
  ...MINUTES,
  second: "2-digit",
});
/**
 * A time in the browser's time zone, with UTC as its tooltip; `exact`: to the
 * second.
 */
export function Moment({ iso, exact }: { iso?: string | null; exact?: true }) {
  const at = iso ? Date.parse(iso) : NaN;
  if (!iso || Number.isNaN(at)) return <span class="quiet">–</span>;
  const format = exact ? TO_THE_SECOND : TO_THE_MINUTE;
  return <time dateTime={iso} title={iso}>{format.format(at)}</time>;
}

/** Seconds until a time; negative if it has passed. */
export function secondsUntil(iso: string): number {
  return (Date.parse(iso) - now()) / 1_000;
}

const TONES: Readonly<Record<string, string>> = {
  active: "good",
  cancelled: "plain",
  checking: "busy",
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
  images: "busy",
  in_stock: "good",
  out_of_stock: "warn",
  paused: "warn",
  processing: "busy",
  refused: "bad",
  retrying: "warn",
  revoked: "bad",
  sending: "busy",
  stored: "good",
  storing: "busy",
  suspended: "bad",
  updated: "busy",
};

/** A state as a coloured word; the word alone is sufficient. */
export function State({ of, word = stateLabel(of) }: {
  of: string;
  /** Replaces the usual word for the state. */
  word?: string;
}) {
  return <span class={`state ${TONES[of] ?? "plain"}`}>{word}</span>;
}

/** One number with its label. */
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

/**
 * The title of a view. Navigation moves the focus to it; if the view is drawn
 * later, the title takes the focus from the element around the views.
 */
export function Title({ children }: { children: ComponentChildren }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const isWaited = document.activeElement?.id === "main";
    if (isWaited) title.current?.focus({ preventScroll: true });
  }, []);
  return <h1 ref={title} tabIndex={-1}>{children}</h1>;
}

/**
 * A status message for screen readers. The element must exist before its text
 * changes.
 */
export function Announcer({ text }: { text: string }) {
  return <p class="unseen" role="status" aria-live="polite">{text}</p>;
}

/**
 * Opens the handbook in another tab, because the page may have unsaved work.
 */
export function HandbookLink({ chapter = "", children }: {
  /** The chapter's name, with a heading after `#` if needed. */
  chapter?: string;
  children: ComponentChildren;
}) {
  const href = chapter === "" ? "/docs" : `/docs/${chapter}`;
  return <a href={href} target="_blank" rel="noopener">{children}</a>;
}

/** Secrets that the service shows only once. */
export function NewSecrets({ title, secrets, onSeen }: {
  title: string;
  secrets: Readonly<Record<string, string>>;
  onSeen: () => void;
}) {
  return (
    <div class="note" role="status">
      <p>{title} This is not shown again.</p>
      <dl class="secrets">
        {Object.entries(secrets).map(([name, secret]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code class="break">{secret}</code>{" "}
              <CopyButton name={name} text={secret} />
            </dd>
          </div>
        ))}
      </dl>
      <p>
        <button type="button" onClick={onSeen}>I have stored it</button>
      </p>
    </div>
  );
}

/** A button that copies a text; browsers allow that on https and localhost. */
function CopyButton({ name, text }: { name: string; text: string }) {
  const [copied, setCopied] = useState(false);
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) return null;
  return (
    <button
      type="button"
      class="small"
      aria-label={`Copy ${name}`}
      onClick={() => clipboard.writeText(text).then(() => setCopied(true))}
    >
      {copied ? "Copied" : "Copy"}
    </button>
  );
}

/** A button for an action that cannot be undone: it asks for confirmation. */
export function SureButton({ label, question, onSure, disabled }: {
  label: string;
  question: string;
  onSure: () => void;
  disabled?: boolean;
}) {
  const [asked, setAsked] = useState(false);
  const wasAsked = useRef(false);
  const button = useRef<HTMLButtonElement>(null);
  // The pressed button is gone, so the new one takes the focus.
  useEffect(() => {
    if (asked || wasAsked.current) button.current?.focus();
    wasAsked.current = asked;
  }, [asked]);
  if (!asked) {
    return (
      <button
        type="button"
        class="danger"
        ref={button}
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
        ref={button}
        onClick={() => answer(true)}
      >
        {label}
      </button>
      <button type="button" onClick={() => answer(false)}>Keep</button>
    </span>
  );
}
