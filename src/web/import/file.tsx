/** The view of the opened file: its check, its problems and its upload. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { afterMs, saveFile } from "../lib/browser.ts";
import type { Client, Detail, ProductCounts } from "../../client/mod.ts";
import { Editor, type EditorSelection } from "../ui/editor.tsx";
import { changeColumns } from "./intake.ts";
import { isJson, linesWithProblems, ProblemFinder } from "../lib/markup.ts";
import { runInSlices } from "../lib/slices.ts";
import { ErrorNote, errorSentence, Figure } from "../ui/components.tsx";
import { formatBytes, formatCount, plural } from "../lib/format.ts";
import { goTo, linkTo, route } from "../state/route.ts";
import { WarningNote } from "../ui/problem_list.tsx";
import { type ShownLine, SourceView } from "../ui/source.tsx";
import { rowName } from "./check/objections.ts";
import { discardIntake } from "./intake_state.ts";
import {
  type DocumentUpload,
  type Refusal,
  type TableUpload,
  type Upload,
  upload,
} from "./send/upload_state.ts";
import {
  checkUpload,
  editText,
  forgetCheck,
  isEditable,
  isShown,
  problemsIn,
  readAgain,
  sendUpload,
  showLeftOutRows,
  warningsIn,
} from "./send/upload.ts";
import { useStore } from "../lib/store.ts";
import { openPictures } from "../pictures/current.ts";
import { lazy } from "../ui/lazy.tsx";
import { loadPictures } from "./load_pictures.ts";
import { Problems } from "./problems.tsx";
import { Repair } from "./repair.tsx";

const FilePictures = lazy(async () => (await loadPictures()).FilePictures);

export function FileView({ client, current }: {
  client: Client;
  current: Upload;
}) {
  const [place, setPlace] = useState<Detail | null>(null);
  const [selection, setSelection] = useState<EditorSelection | null>(null);
  const find = (problem: Detail) => {
    setPlace(problem);
    const found = current.kind === "document"
      ? new ProblemFinder(current.text).find(problem)
      : null;
    if (found === null) return;
    setSelection((last) => ({ ...found, request: (last?.request ?? 0) + 1 }));
  };
  useEffect(() => {
    if (upload.value?.step.name === "kept") checkUpload(client);
  }, [client]);
  const repaired = useTableWithProblems(current);
  const hasPictures = useStore(openPictures) !== null;
  useResultFocus(current);
  const view = (
    <StepView client={client} current={current} place={place} onFind={find} />
  );
  return (
    <>
      <FileBar client={client} current={current} />
      <WarningNote
        warnings={warningsIn(current)}
        isStored={false}
        rowOf={(product) => rowSentAs(current, product)}
      />
      {hasPictures && <FilePictures client={client} current={current} />}
      {repaired !== null && (
        <Repair
          client={client}
          current={repaired}
          busy={repaired !== current}
        />
      )}
      {repaired === null && current.kind === "table" && view}
      {current.kind === "document" && (
        <div class="beside">
          <div class="side">{view}</div>
          <FileSource current={current} place={place} selection={selection} />
        </div>
      )}
    </>
  );
}

/** The name of the table row that is a product of the document. */
function rowSentAs(current: Upload, product: number): string | null {
  if (current.kind === "document") return null;
  const row = current.rows[product - 1];
  return row === undefined ? null : rowName(current.sheet, row);
}

/**
 * The table with problems in rows, even while it is being checked again; null if
 * no row has problems.
 */
function useTableWithProblems(current: Upload): TableUpload | null {
  const last = useRef<TableUpload | null>(null);
  const { step } = current;
  const isOfRows = step.name === "refused" &&
    concernsOnlyProducts(step.refusal);
  if (current.kind === "table" && isOfRows) last.current = current;
  else if (step.name !== "checking") last.current = null;
  return last.current;
}

/** After a check, moves the focus to the result, unless an element has the focus. */
function useResultFocus({ step: { name } }: Upload): void {
  const before = useRef(name);
  useEffect(() => {
    const wasChecking = before.current === "checking";
    before.current = name;
    const isLost = document.activeElement === document.body;
    if (!wasChecking || !isLost) return;
    document.querySelector<HTMLElement>(
      name === "ready" ? ".bar .main" : ".sheet, .problem",
    )?.focus();
  }, [name]);
}

function FileSource({ current, place, selection }: {
  current: DocumentUpload;
  place: Detail | null;
  selection: EditorSelection | null;
}) {
  const { text } = current;
  const lines = useMemo(
    () => isEditable(current) || !isShown(current) ? [] : text.split("\n"),
    [text],
  );
  const marked = useMarkedLines(current, problemsIn(current));
  const at = useMemo<ShownLine | null>(
    () =>
      place?.line
        ? { line: place.line, request: selection?.request ?? 0 }
        : null,
    [place, selection],
  );
  if (isEditable(current)) {
    return (
      <Editor
        text={text}
        marked={marked}
        selection={selection}
        onEdit={editText}
      />
    );
  }
  return isShown(current)
    ? <SourceView lines={lines} marked={marked} place={at} />
    : <p class="quiet">The source of this file is too long to show.</p>;
}

/** The pause in milliseconds after an edit until problems are searched again. */
const MARKED_AFTER_MS = 200;

/** The lines with problems, which are searched again shortly after an edit. */
function useMarkedLines(
  { text, edited }: DocumentUpload,
  problems: readonly Detail[],
): ReadonlySet<number> {
  const problemLines = useMemo(
    () => new Set(problems.map(({ line }) => line ?? 0)),
    [problems],
  );
  const [found, setFound] = useState(problemLines);
  useEffect(() => {
    if (!edited) return setFound(problemLines);
    const outdated = new AbortController();
    const cancel = afterMs(MARKED_AFTER_MS, async () => {
      const lines = await runInSlices(
        linesWithProblems(text, problems),
        outdated.signal,
      );
      if (lines !== null) setFound(lines);
    });
    return () => {
      cancel();
      outdated.abort();
    };
  }, [text, edited, problemLines]);
  return edited ? found : problemLines;
}

function FileBar({ client, current }: { client: Client; current: Upload }) {
  const { step, edited, fileName } = current;
  const document = current.kind === "document" ? current : null;
  const table = current.kind === "table" ? current : null;
  const busy = step.name === "checking" || step.name === "sending";
  const send = async () => {
    const id = await sendUpload(client);
    const stillHere = ["", "upload"].includes(route.value.view);
    if (id === null) return;
    const { step } = upload.value ?? {};
    const isDone = step?.name === "sent" &&
      (step.sent.leftOutCount === 0 || current.kind === "document");
    if (isDone) discardIntake();
    if (stillHere) goTo("imports", id);
  };
  const check = async () => {
    const isNew = !edited && await readAgain(client).catch(() => false);
    if (!isNew) await checkUpload(client);
  };
  return (
    <div class="bar">
      <strong class="cut grow">{fileName}</strong>
      <span class="quiet">
        {table !== null
          ? plural(table.rows.length, "row")
          : formatBytes(document!.size)}
      </span>
      {document?.isLaidOut && <span class="quiet">line breaks added</span>}
      <button
        type="button"
        onClick={() => {
          forgetCheck(client, current);
          discardIntake();
        }}
      >
        Another file
      </button>
      {table !== null && !busy && step.name !== "sent" &&
        table.rows.length === table.sheet.table.rows.length && (
        <button type="button" onClick={changeColumns}>
          Change the columns
        </button>
      )}
      {edited && document?.handle && (
        <button
          type="button"
          onClick={() => readAgain(client)}
        >
          Read the file again
        </button>
      )}
      {document !== null && isEditable(document) && (
        <button
          type="button"
          onClick={() =>
            saveFile(
              new Blob([document.text]),
              `${fileName.replace(/\.\w+$/, "")}.${
                isJson(document.text) ? "json" : "xml"
              }`,
            )}
        >
          Save as a file
        </button>
      )}
      {!busy && step.name !== "sent" && (step.name !== "ready" || edited) && (
        <button type="button" class={edited ? "main" : ""} onClick={check}>
          Check again
        </button>
      )}
      {step.name === "ready" && !edited && (
        <button type="button" class="main" onClick={send}>
          Upload {plural(step.counts.total, "product")}
        </button>
      )}
      {step.name === "refused" && !edited && mayStoreValid(current) && (
        <button type="button" class="main" onClick={send}>
          Store {formatCount(step.refusal.validCount)}, leave out{" "}
          {formatCount(step.refusal.leftOutCount)}
        </button>
      )}
      {step.name === "failed" && step.refusal !== null && (
        <button type="button" class="main" onClick={send}>
          Upload {plural(step.refusal.validCount, "product")} again
        </button>
      )}
      {/* Last in the row, so that its appearance moves no button under the pointer. */}
      {edited && <span class="state warn">edited</span>}
    </div>
  );
}

/** Whether the valid products can be stored before the others are corrected. */
function mayStoreValid({ step, kind }: Upload): boolean {
  if (step.name !== "refused") return false;
  const { refusal } = step;
  return refusal.validCount > 0 && concernsOnlyProducts(refusal) &&
    (kind === "table" || refusal.heldBackProducts.length === 0);
}

/** Whether each problem concerns one product. */
function concernsOnlyProducts({ error, problems }: Refusal): boolean {
  return error === null && problems.length > 0 &&
    problems.every(({ product }) => product !== undefined);
}

interface StepProps {
  client: Client;
  current: Upload;
  place: Detail | null;
  onFind: (found: Detail) => void;
}

function StepView({ client, current, place, onFind }: StepProps) {
  const { step } = current;
  switch (step.name) {
    case "checking":
      return (
        <WorkingNote title="Checking" percent={step.percent}>
          Every product and every image URL is checked. Nothing is stored yet.
        </WorkingNote>
      );
    case "sending":
      return <SendingNote interruption={step.interruption} />;
    case "refused":
      return (
        <Problems
          client={client}
          current={current}
          place={place}
          onFind={onFind}
        />
      );
    case "ready":
      return <ReadyNote counts={step.counts} />;
    case "sent":
      return <SentNote client={client} id={step.sent.import_id} />;
    case "failed":
      return (
        <>
          <ErrorNote error={step.error} />
          {step.refusal !== null && (
            <p class="quiet">
              It is unknown whether the file arrived. You can send it again: it
              is never stored twice.
            </p>
          )}
        </>
      );
    case "kept":
      return (
        <div class="note">
          <p>The file is still open, and nothing was stored.</p>
          <p>
            <button
              type="button"
              class="main"
              onClick={() => checkUpload(client)}
            >
              Check the file
            </button>
          </p>
        </div>
      );
  }
}

function SentNote({ client, id }: { client: Client; id: string }) {
  return (
    <div class="note good">
      <p>
        <a href={linkTo("imports", id)}>The rest</a>{" "}
        is being stored, even if you close this page.
      </p>
      <p>
        <button
          type="button"
          class="main"
          onClick={() => showLeftOutRows(client, id)}
        >
          Correct the rows left out
        </button>
      </p>
    </div>
  );
}

function WorkingNote({ title, percent = null, children }: {
  title: string;
  percent?: number | null;
  children: string;
}) {
  return (
    <div class="note">
      <p>
        <strong>{title}</strong>
        {percent !== null && ` ${percent} %`}
      </p>
      <progress
        aria-label={title}
        max={100}
        value={percent ?? undefined}
      />
      <p class="quiet">{children}</p>
    </div>
  );
}

function SendingNote({ interruption }: { interruption: Error | null }) {
  return (
    <>
      <WorkingNote title="Sending">
        Once the file has arrived, it is stored even if you close this page.
      </WorkingNote>
      {interruption && (
        <div class="note warn">
          <p>{errorSentence(interruption)}</p>
          <p>
            The upload is retried automatically. The file cannot be stored
            twice.
          </p>
        </div>
      )}
    </>
  );
}

function ReadyNote({ counts }: { counts: ProductCounts }) {
  return (
    <div class="note good">
      <p>
        <strong>No problems.</strong> This would be done:
      </p>
      <dl class="figures">
        <Figure label="products" value={formatCount(counts.total)} />
        <Figure label="new" value={formatCount(counts.created)} />
        <Figure label="changed" value={formatCount(counts.updated)} />
        <Figure label="unchanged" value={formatCount(counts.unchanged)} />
      </dl>
    </div>
  );
}
