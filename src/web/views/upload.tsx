/** The upload view: drop a file, repair it where it is shown, upload it. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { pickFile, saveFile } from "../browser.ts";
import type { Client, Detail, ProductCounts } from "../../client/mod.ts";
import { Editor, type Selection } from "../editor.tsx";
import { dropAll, intake, mapAgain, takeAny, takeText } from "../intake.ts";
import type { Refused } from "../kinds.ts";
import { Finder } from "../markup.ts";
import {
  Announcer,
  bytes,
  count,
  ErrorNote,
  Figure,
  Form,
  plural,
  sentenceOf,
  Title,
} from "../parts.tsx";
import { goTo, linkTo, route } from "../route.ts";
import { sandbox } from "../sandbox.ts";
import { type Place, Source } from "../source.tsx";
import { templateCsv } from "../spreadsheet.ts";
import { useStore } from "../store.ts";
import {
  checkUpload,
  editText,
  isEditable,
  isOfTable,
  isShown,
  problemsIn,
  readAgain,
  type Refusal,
  sendUpload,
  showLeft,
  type TableUpload,
  type Upload,
  upload,
} from "../upload.ts";
import { ColumnsView } from "./columns.tsx";
import { Problems } from "./problems.tsx";
import { Repair } from "./repair.tsx";

export function UploadView({ client }: { client: Client }) {
  const current = useStore(upload);
  const taken = useStore(intake);
  usePaste(client);
  useEffect(() => {
    if (upload.value?.step.name === "kept") checkUpload(client);
  }, [client]);
  return (
    <>
      <Title>Upload products</Title>
      <Announcer text={current === null ? "" : announcement(current)} />
      {current !== null
        ? <FileView client={client} current={current} />
        : taken.name === "spreadsheet"
        ? (
          <ColumnsView
            key={taken.spreadsheet}
            client={client}
            spreadsheet={taken.spreadsheet}
          />
        )
        : taken.name === "reading"
        ? <p class="quiet" role="status">{taken.file} is being read…</p>
        : (
          <DropZone
            client={client}
            refused={taken.name === "refused" ? taken.refused : null}
          />
        )}
    </>
  );
}

/** Takes what is pasted anywhere but into a field. */
function usePaste(client: Client): void {
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const isField = event.target instanceof Element &&
        event.target.matches("input, textarea, select");
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (isField || text === "") return;
      event.preventDefault();
      takeText(client, text);
    };
    addEventListener("paste", paste);
    return () => removeEventListener("paste", paste);
  }, [client]);
}

function announcement({ fileName, step }: Upload): string {
  switch (step.name) {
    case "checking":
      return `${fileName} is being checked.`;
    case "refused": {
      const { problems, more } = step.refusal;
      return `${plural(problems.length + more, "problem")} found.`;
    }
    case "ready":
      return `${plural(step.counts.total, "product")} can be stored.`;
    case "sending":
      return step.interruption === null
        ? "The file is on its way."
        : "The upload was interrupted and is tried again.";
    case "sent":
    case "failed":
    case "kept":
      return "";
  }
}

function DropZone({ client, refused }: {
  client: Client;
  refused: Refused | null;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [isPasting, setPasting] = useState(false);
  const choose = async () => {
    const picked = await pickFile();
    if (picked === "unsupported") input.current?.click();
    else if (picked !== null) takeAny(client, picked.file, picked.handle);
  };
  const take = (file: File | undefined) => {
    if (file !== undefined) takeAny(client, file);
  };
  return (
    <>
      {refused && (
        <div class="note bad" role="alert">
          <p>
            <strong>{refused.name} is {refused.what}.</strong> It was not sent.
          </p>
          <p>{refused.remedy}</p>
        </div>
      )}
      <div class="drop">
        <p class="big">Drop a file with products anywhere on this page</p>
        <p class="quiet">
          A table (CSV, Excel) of any length, or XML. It is checked first;
          nothing is stored before you say so.
        </p>
        <p class="row centred">
          <button type="button" class="main" onClick={choose}>
            Choose a file…
          </button>
          <button
            type="button"
            aria-expanded={isPasting}
            onClick={() => setPasting(!isPasting)}
          >
            Paste rows…
          </button>
          <button
            type="button"
            onClick={() =>
              saveFile(
                new Blob([templateCsv()], { type: "text/csv" }),
                "products-template.csv",
              )}
          >
            Download a template
          </button>
        </p>
        {sandbox && (
          <p class="row centred">
            <span class="quiet">Sandbox:</span>
            {sandbox.samples.map(({ name, label, xml }) => (
              <button
                key={name}
                type="button"
                onClick={() => take(new File([xml], name))}
              >
                {label}
              </button>
            ))}
          </p>
        )}
        <input
          ref={input}
          type="file"
          class="unseen"
          tabIndex={-1}
          aria-label="File with products"
          onChange={(event) => take(event.currentTarget.files?.[0])}
        />
      </div>
      {isPasting && <PasteForm client={client} />}
    </>
  );
}

function PasteForm({ client }: { client: Client }) {
  const [text, setText] = useState("");
  const [isOdd, setOdd] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.focus(), []);
  return (
    <Form
      class="card"
      onSubmit={async () => setOdd(!await takeText(client, text))}
    >
      <label for="rows">
        Rows copied from a spreadsheet; the first one names the columns
      </label>
      <textarea
        id="rows"
        ref={area}
        class="mono"
        rows={8}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {isOdd && (
        <p class="bad" role="alert">
          There are no columns in this text. Copy the row with the names of the
          columns, too.
        </p>
      )}
      <p>
        <button type="submit" class="main" disabled={text.trim() === ""}>
          Take these rows
        </button>
      </p>
    </Form>
  );
}

function FileView({ client, current }: { client: Client; current: Upload }) {
  const [place, setPlace] = useState<Detail | null>(null);
  const [selection, setSelection] = useState<Selection | null>(null);
  const find = (problem: Detail) => {
    setPlace(problem);
    const found = new Finder(current.text).find(problem);
    if (found === null) return;
    setSelection((last) => ({ ...found, wish: (last?.wish ?? 0) + 1 }));
  };
  const repaired = useRepaired(current);
  useResultFocus(current);
  const view = (
    <StepView client={client} current={current} place={place} onFind={find} />
  );
  return (
    <>
      <FileBar client={client} current={current} />
      {repaired !== null && (
        <Repair
          client={client}
          current={repaired}
          busy={repaired !== current}
        />
      )}
      {repaired === null && isOfTable(current) && view}
      {!isOfTable(current) && (
        <div class="beside">
          <div class="side">{view}</div>
          <SourceOf current={current} place={place} selection={selection} />
        </div>
      )}
    </>
  );
}

/**
 * The table to repair, also while it is checked anew; null if there is none, or
 * if its problems are not those of rows.
 */
function useRepaired(current: Upload): TableUpload | null {
  const last = useRef<TableUpload | null>(null);
  const { step } = current;
  const isOfRows = step.name === "refused" && isOfProducts(step.refusal);
  if (isOfTable(current) && isOfRows) last.current = current;
  else if (step.name !== "checking") last.current = null;
  return last.current;
}

/** After a check, the focus goes to its result unless it is somewhere. */
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

function SourceOf({ current, place, selection }: {
  current: Upload;
  place: Detail | null;
  selection: Selection | null;
}) {
  const { text } = current;
  const lines = useMemo(
    () => isEditable(current) || !isShown(current) ? [] : text.split("\n"),
    [text],
  );
  const marked = useMarked(current, problemsIn(current));
  const at = useMemo<Place | null>(
    () => place?.line ? { line: place.line, wish: selection?.wish ?? 0 } : null,
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
    ? <Source lines={lines} marked={marked} place={at} />
    : <p class="quiet">The source of this file is too long to show.</p>;
}

/** Lines with problems; after an edit, where the elements are now. */
function useMarked(
  { text, edited }: Upload,
  problems: readonly Detail[],
): ReadonlySet<number> {
  return useMemo(() => {
    if (!edited) return new Set(problems.map(({ line }) => line ?? 0));
    const finder = new Finder(text);
    return new Set(problems.map((problem) => {
      const found = finder.find(problem);
      return found === null ? 0 : finder.lineOf(found.start);
    }));
  }, [text, edited, problems]);
}

function FileBar({ client, current }: { client: Client; current: Upload }) {
  const { step, edited, fileName, size, rows, handle, text } = current;
  const busy = step.name === "checking" || step.name === "sending";
  const send = async () => {
    const id = await sendUpload(client);
    const stillHere = ["", "upload"].includes(route.value.view);
    if (id === null) return;
    const { step } = upload.value ?? {};
    const isDone = step?.name === "sent" &&
      (step.sent.left === 0 || !isOfTable(current));
    if (isDone) dropAll();
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
        {isOfTable(current) ? plural(rows.length, "row") : bytes(size)}
      </span>
      {current.isLaidOut && <span class="quiet">line breaks added</span>}
      <button type="button" onClick={dropAll}>Another file</button>
      {isOfTable(current) && !busy && step.name !== "sent" &&
        rows.length === current.sheet.table.rows.length && (
        <button type="button" onClick={mapAgain}>Change the columns</button>
      )}
      {edited && handle !== null && (
        <button
          type="button"
          onClick={() => readAgain(client)}
        >
          Read the file again
        </button>
      )}
      {isEditable(current) && (
        <button
          type="button"
          onClick={() =>
            saveFile(
              new Blob([text]),
              `${fileName.replace(/\.\w+$/, "")}.xml`,
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
          Store {count(step.refusal.valid)}, leave {count(step.refusal.left)}
        </button>
      )}
      {step.name === "failed" && step.refusal !== null && (
        <button type="button" class="main" onClick={send}>
          Upload again
        </button>
      )}
      {/* At the end: a click that ends the edit of a cell moves no button. */}
      {edited && <span class="state warn">edited</span>}
    </div>
  );
}

/** Whether the others may be stored, and what is left stays here. */
function mayStoreValid({ step, sheet }: Upload): boolean {
  if (step.name !== "refused") return false;
  const { refusal } = step;
  return refusal.valid > 0 && isOfProducts(refusal) &&
    (sheet !== null || refusal.held.length === 0);
}

/** Whether all problems belong to single products. */
function isOfProducts({ error, problems }: Refusal): boolean {
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
        <Working title="Checking" percent={step.percent}>
          Every product is validated and every image URL is asked for. Nothing
          is stored.
        </Working>
      );
    case "sending":
      return <Sending interruption={step.interruption} />;
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
      return <Ready counts={step.counts} />;
    case "sent":
      return <SentNote client={client} id={step.sent.import_id} />;
    case "failed":
      return (
        <>
          <ErrorNote error={step.error} />
          {step.refusal !== null && (
            <p class="quiet">
              Nobody knows whether the last try arrived. To send it again is
              safe: the same file is never stored twice.
            </p>
          )}
        </>
      );
    case "kept":
      return (
        <div class="note">
          <p>The file is still here, and nothing of it was stored.</p>
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
        is being stored, whether this page is open or not.
      </p>
      <p>
        <button
          type="button"
          class="main"
          onClick={() => showLeft(client, id)}
        >
          Correct what was left
        </button>
      </p>
    </div>
  );
}

function Working({ title, percent = null, children }: {
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

function Sending({ interruption }: { interruption: Error | null }) {
  return (
    <>
      <Working title="Sending">
        Once the file has arrived, it is stored whether this page is open or
        not.
      </Working>
      {interruption && (
        <div class="note warn">
          <p>{sentenceOf(interruption)}</p>
          <p>
            The upload is tried again by itself. It cannot be stored twice:
            every try carries the same Idempotency-Key.
          </p>
        </div>
      )}
    </>
  );
}

function Ready({ counts }: { counts: ProductCounts }) {
  return (
    <div class="note good">
      <p>
        <strong>No problems.</strong> This would be done:
      </p>
      <dl class="figures">
        <Figure label="products" value={count(counts.total)} />
        <Figure label="new" value={count(counts.created)} />
        <Figure label="changed" value={count(counts.updated)} />
        <Figure label="unchanged" value={count(counts.unchanged)} />
      </dl>
    </div>
  );
}
