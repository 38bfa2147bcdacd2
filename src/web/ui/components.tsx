/** Small components that several views share. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../client/mod.ts";
import { now } from "../lib/browser.ts";
import { stateLabel } from "../lib/texts.ts";

/** Data that a view loads. During a reload, `data` is the former value. */
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
  const [reloads, setReloads] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setState((previous) => ({ ...previous, loading: true }));
    load(controller.signal).then(
      (data) => setState({ data, error: null, loading: false }),
      (error) => {
        if (controller.signal.aborted) return;
        setState((previous) => ({ ...previous, error, loading: false }));
      },
    );
    return () => controller.abort();
  }, [...keys, reloads]);
  return { ...state, reload: () => setReloads((previous) => previous + 1) };
}

/** Runs the action of a button and has its state. */
export interface Action {
  busy: boolean;
  error: Error | null;
  run(work: () => Promise<void>): void;
}

/** Runs one action at a time; ignores clicks while an action runs. */
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

/** A form that calls `onSubmit` instead of a request of the browser. */
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

/** A note about an error, with the facts for a problem report. */
export function ErrorNote({ error, message, onRetry }: {
  error: Error;
  /** Shown instead of the error's own message. */
  message?: string;
  onRetry?: () => void;
}) {
  return (
    <div class="note bad" role="alert">
      <p>{message ?? errorSentence(error)}</p>
      {error instanceof ApiError && <ApiErrorDetails error={error} />}
      {onRetry && (
        <p>
          <button type="button" onClick={onRetry}>Try again</button>
        </p>
      )}
    </div>
  );
}

/** The message of an error, without the details, which are listed below it. */
export function errorSentence(error: Error): string {
  return error instanceof ApiError ? error.title : error.message;
}

function ApiErrorDetails({ error }: { error: ApiError }) {
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

/** Shows the error, a note that the data is loading, or the children. */
export function WhenLoaded<T>({ loaded, children }: {
  loaded: Loaded<T>;
  /** Called after the data has been loaded. */
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

const MINUTE_FORMAT_OPTIONS: Intl.DateTimeFormatOptions = {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
};
const MINUTE_FORMAT = new Intl.DateTimeFormat("en-GB", MINUTE_FORMAT_OPTIONS);
const SECOND_FORMAT = new Intl.DateTimeFormat("en-GB", {
  ...MINUTE_FORMAT_OPTIONS,
  second: "2-digit",
});
/**
 * A time in the browser's time zone, with UTC as its tooltip. With `exact`, the
 * time has seconds.
 */
export function LocalTime(
  { iso, exact }: { iso?: string | null; exact?: true },
) {
  const at = iso ? Date.parse(iso) : NaN;
  if (!iso || Number.isNaN(at)) return <span class="quiet">–</span>;
  const format = exact ? SECOND_FORMAT : MINUTE_FORMAT;
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

/** A state as a coloured label. The label is sufficient without the colour. */
export function State({ state, label = stateLabel(state) }: {
  state: string;
  /** Replaces the usual label of the state. */
  label?: string;
}) {
  return <span class={`state ${TONES[state] ?? "plain"}`}>{label}</span>;
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
 * The title of a view. Navigation moves the focus to the title of a view that is
 * already drawn. If a view is drawn later, its title takes the focus from
 * `main`.
 */
export function Title({ children }: { children: ComponentChildren }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const isMainFocused = document.activeElement?.id === "main";
    if (isMainFocused) title.current?.focus({ preventScroll: true });
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

/** A button that copies a text; browsers allow copying on https and localhost. */
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

/** A button that asks for confirmation, for an action that cannot be undone. */
export function ConfirmedButton({ label, question, onConfirm, disabled }: {
  label: string;
  question: string;
  onConfirm: () => void;
  disabled?: boolean;
}) {
  const [isAsking, setAsking] = useState(false);
  const wasAsking = useRef(false);
  const button = useRef<HTMLButtonElement>(null);
  // The button that replaces the pressed one gets the focus.
  useEffect(() => {
    if (isAsking || wasAsking.current) button.current?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);
  if (!isAsking) {
    return (
      <button
        type="button"
        class="danger"
        ref={button}
        disabled={disabled}
        onClick={() => setAsking(true)}
      >
        {label}
      </button>
    );
  }
  const finish = (isConfirmed: boolean) => {
    setAsking(false);
    if (isConfirmed) onConfirm();
  };
  return (
    <span class="row" role="group" aria-label={question}>
      <span>{question}</span>
      <button
        type="button"
        class="danger"
        ref={button}
        onClick={() => finish(true)}
      >
        {label}
      </button>
      <button type="button" onClick={() => finish(false)}>Keep</button>
    </span>
  );
}
