/** The upload view: drop a file, repair it where it is shown, upload it. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { pickFile, saveFile } from "../browser.ts";
import type { Client, Detail } from "../../client/mod.ts";
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
import type { Sheet } from "../sheet.ts";
import { templateCsv } from "../spreadsheet.ts";
import { useStore } from "../store.ts";
import {
  checkUpload,
  countsOf,
  editText,
  type Found,
  isEditable,
  isOfTable,
  isShown,
  type Part,
  problemsIn,
  readAgain,
  type Refusal,
  sendUpload,
  shownPart,
  showPart,
  type Step,
  type Upload,
  upload,
  type Work,
} from "../upload.ts";
import { ColumnsView } from "./columns.tsx";
import { Problems } from "./problems.tsx";
import { Repair } from "./repair.tsx";

export function UploadView({ client }: { client: Client }) {
  const current = useStore(upload);
  const taken = useStore(intake);
  usePaste(client);
  useEffect(() => {
    if (upload.value !== null && overall(upload.value).name === "kept") {
      checkUpload(client);
    }
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

/** What all parts together have come to; the first of these that one has. */
const ORDER: readonly Step["name"][] = [
  "kept",
  "checking",
  "sending",
  "failed",
  "waiting",
  "refused",
  "ready",
  "sent",
];

/** The step that stands for all parts. */
function overall({ parts }: Upload): Step {
  const steps = parts.map(({ step }) => step);
  for (const name of ORDER) {
    const step = steps.find((one) => one.name === name);
    if (step !== undefined) return step;
  }
  throw new Error("an upload has parts");
}

function announcement(current: Upload): string {
  const step = overall(current);
  switch (step.name) {
    case "checking":
      return `${current.fileName} is being checked.`;
    case "refused":
      return `${plural(problemCount(current), "problem")} found.`;
    case "ready":
      return `${plural(totalOf(current), "product")} can be uploaded.`;
    case "sending":
      return step.interruption === null
        ? "The upload is on its way."
        : "The upload was interrupted and is tried again.";
    case "sent":
      return "The upload is stored.";
    case "waiting":
    case "failed":
    case "kept":
      return "";
  }
}

/** Including those that are only counted. */
function problemCount(current: Upload): number {
  return current.parts.reduce(
    (all, { step }) => step.name === "refused" ? all + step.refusal.more : all,
    problemsIn(current).length,
  );
}

/** Products of the parts that are ready. */
function totalOf({ parts }: Upload): number {
  return parts.reduce(
    (all, { step }) => step.name === "ready" ? all + step.counts.total : all,
    0,
  );
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
  const part = shownPart(current);
  const [place, setPlace] = useState<Detail | null>(null);
  const [selection, setSelection] = useState<Selection | null>(null);
  const find = ({ part: index, problem }: Found) => {
    if (index !== current.shown) showPart(index);
    setPlace(problem);
    const found = new Finder(current.parts[index].text).find(problem);
    if (found === null) return;
    setSelection((last) => ({ ...found, wish: (last?.wish ?? 0) + 1 }));
  };
  const repaired = useRepaired(current);
  useResultFocus(current);
  const isBegun = current.parts.some(({ step }) => step.name === "sent");
  return (
    <>
      <FileBar client={client} current={current} />
      {current.parts.length > 1 && (repaired === null || isBegun) && (
        <Parts current={current} />
      )}
      {repaired !== null && (
        <Repair
          client={client}
          current={repaired}
          busy={repaired !== current}
        />
      )}
      {repaired === null && isOfTable(current) && (
        <StepView
          client={client}
          current={current}
          place={place}
          onFind={find}
        />
      )}
      {!isOfTable(current) && (
        <div class="beside">
          <div class="side">
            <StepView
              client={client}
              current={current}
              place={place}
              onFind={find}
            />
          </div>
          <SourceOf
            key={current.shown}
            part={part}
            place={place}
            selection={selection}
          />
        </div>
      )}
    </>
  );
}

/**
 * The table to repair, also while it is checked anew; null if there is none, or
 * if its problems are not those of rows.
 */
function useRepaired(current: Upload): (Upload & { sheet: Sheet }) | null {
  const last = useRef<Upload & { sheet: Sheet } | null>(null);
  const { name } = overall(current);
  const isOfRows = name === "refused" && mayStorePart(current);
  if (isOfTable(current) && isOfRows) last.current = current;
  else if (name !== "checking") last.current = null;
  return last.current;
}

/** After a check, the focus goes to its result unless it is somewhere. */
function useResultFocus(current: Upload): void {
  const { name } = overall(current);
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

function SourceOf({ part, place, selection }: {
  part: Part;
  place: Detail | null;
  selection: Selection | null;
}) {
  const { text, step } = part;
  const problems = step.name === "refused" ? step.refusal.problems : [];
  const lines = useMemo(
    () => isEditable(part) || !isShown(part) ? [] : text.split("\n"),
    [text],
  );
  const marked = useMarked(part, problems);
  const at = useMemo<Place | null>(
    () => place?.line ? { line: place.line, wish: selection?.wish ?? 0 } : null,
    [place, selection],
  );
  if (isEditable(part)) {
    return (
      <Editor
        text={text}
        marked={marked}
        selection={selection}
        onEdit={editText}
      />
    );
  }
  return isShown(part)
    ? <Source lines={lines} marked={marked} place={at} />
    : <p class="quiet">The source of this file is too long to show.</p>;
}

/** Lines with problems; after an edit, where the elements are now. */
function useMarked(
  { text, edited }: Part,
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

/** The parts of a large file, with what became of each. */
function Parts({ current }: { current: Upload }) {
  const { parts, shown } = current;
  const done = parts.filter(({ step }) => step.name === "sent").length;
  const isSending = parts.some(({ step }) =>
    step.name === "sending" || step.name === "sent"
  );
  return (
    <section class="card" aria-label="Documents">
      {isSending && (
        <div class="row">
          <progress
            class="grow"
            max={parts.length}
            value={done}
            aria-label="Documents stored"
          />
          <strong>{count(done)} of {count(parts.length)} stored</strong>
        </div>
      )}
      <ol class="chips">
        {parts.map(({ name, step }, i) => (
          <li key={i}>
            <button
              type="button"
              class={`small state ${TONES[step.name]}`}
              aria-pressed={i === shown}
              onClick={() => showPart(i)}
            >
              {name}: {wordOf(step)}
            </button>
            {step.name === "sent" && (
              <a href={linkTo("uploads", step.id)}>See it</a>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

const TONES: Readonly<Record<Step["name"], string>> = {
  waiting: "plain",
  checking: "busy",
  refused: "bad",
  ready: "good",
  sending: "busy",
  sent: "good",
  failed: "bad",
  kept: "warn",
};

function wordOf(step: Step): string {
  switch (step.name) {
    case "refused":
      return plural(
        step.refusal.problems.length + step.refusal.more,
        "problem",
      );
    case "sent":
      return step.refused === 0 ? "stored" : `stored, ${step.refused} refused`;
    case "kept":
      return "not stored";
    default:
      return step.name;
  }
}

function FileBar({ client, current }: { client: Client; current: Upload }) {
  const step = overall(current);
  const part = shownPart(current);
  const { valid, left } = countsOf(current);
  const isEdited = current.parts.some(({ edited }) => edited);
  const busy = step.name === "checking" || step.name === "sending";
  const send = async (work: Exclude<Work, "check">) => {
    const isStored = await sendUpload(client, work);
    const stillHere = ["", "upload"].includes(route.value.view);
    const parts = upload.value?.parts ?? [];
    if (!isStored || parts.length !== 1) return;
    const [{ step }] = parts;
    dropAll();
    if (step.name === "sent" && stillHere) goTo("uploads", step.id);
  };
  const check = async () => {
    const isNew = !isEdited && await readAgain(client).catch(() => false);
    if (!isNew) await checkUpload(client);
  };
  return (
    <div class="bar">
      <strong class="cut grow">{current.fileName}</strong>
      <span class="quiet">{bytes(current.size)}</span>
      {current.isLaidOut && <span class="quiet">line breaks added</span>}
      {isEdited && <span class="state warn">edited</span>}
      <button type="button" onClick={dropAll}>Another file</button>
      {isOfTable(current) && !busy &&
        !current.parts.some(({ step }) => step.name === "sent") && (
        <button type="button" onClick={mapAgain}>Change the columns</button>
      )}
      {isEdited && current.handle !== null && (
        <button
          type="button"
          onClick={() => readAgain(client)}
        >
          Read the file again
        </button>
      )}
      {isEditable(part) && !isOfTable(current) && (
        <button
          type="button"
          onClick={() => saveFile(new Blob([part.text]), fileNameOf(part))}
        >
          Save as a file
        </button>
      )}
      {!busy && step.name !== "sent" &&
        (step.name !== "ready" || isEdited) && (
        <button
          type="button"
          class={isEdited ? "main" : ""}
          onClick={check}
        >
          Check again
        </button>
      )}
      {step.name === "ready" && !isEdited && (
        <button
          type="button"
          class="main"
          onClick={() => send("upload")}
        >
          Upload {plural(totalOf(current), "product")}
        </button>
      )}
      {step.name === "refused" && !isEdited && mayStorePart(current) &&
        valid > 0 && keepsHeld(current) && (
        <button
          type="button"
          class="main"
          onClick={() => send("upload valid")}
        >
          Store {count(valid)}, leave {count(left)}
        </button>
      )}
      {step.name === "failed" && step.during !== "check" && (
        <button
          type="button"
          class="main"
          onClick={() =>
            send(step.during === "upload" ? "upload" : "upload valid")}
        >
          Upload again
        </button>
      )}
    </div>
  );
}

function fileNameOf({ name }: Part): string {
  return `${name.replace(/\.\w+$/, "")}.xml`;
}

/** Whether all problems belong to single products. */
function mayStorePart({ parts }: Upload): boolean {
  return parts.every(({ step }) =>
    step.name !== "refused" || isOfProducts(step.refusal)
  );
}

/** Whether what is held back would be left here: rows of a table are. */
function keepsHeld(current: Upload): boolean {
  return isOfTable(current) ||
    current.parts.every(({ step }) =>
      step.name !== "refused" || step.refusal.held.length === 0
    );
}

function isOfProducts({ error, problems }: Refusal): boolean {
  return (error === null || error.status === 422) && problems.length > 0 &&
    problems.every(({ product }) => product !== undefined);
}

interface StepProps {
  client: Client;
  current: Upload;
  place: Detail | null;
  onFind: (found: Found) => void;
}

function StepView({ client, current, place, onFind }: StepProps) {
  const step = overall(current);
  switch (step.name) {
    case "waiting":
    case "checking":
      return (
        <Working title="Checking">
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
      return <Ready current={current} />;
    case "sent":
      return <Sent current={current} />;
    case "failed":
      return (
        <>
          <ErrorNote error={step.error} />
          {step.during !== "check" && (
            <p class="quiet">
              Nobody knows whether the last try arrived. To upload again is
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

function Sent({ current: { parts } }: { current: Upload }) {
  const refused = parts.reduce(
    (all, { step }) => step.name === "sent" ? all + step.refused : all,
    0,
  );
  return (
    <>
      {refused > 0 && (
        <div class="note warn">
          <p>
            <strong>{plural(refused, "product")} refused.</strong>{" "}
            Open the document that says so: they can be corrected there.
          </p>
        </div>
      )}
      <div class="note good">
        <p>
          <strong>
            All {refused > 0 ? "other products" : "documents"} are stored.
          </strong>{" "}
          Their images are fetched now; each document shows how far that is.
        </p>
        <p>
          <a href={linkTo("uploads")}>All uploads</a>
        </p>
      </div>
    </>
  );
}

function Working({ title, children }: { title: string; children: string }) {
  return (
    <div class="note">
      <p>
        <strong>{title}</strong>
      </p>
      <progress aria-label={title} />
      <p class="quiet">{children}</p>
    </div>
  );
}

function Sending({ interruption }: { interruption: Error | null }) {
  return (
    <>
      <Working title="Uploading">
        Everything is checked once more; what is stored is stored at once.
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

function Ready({ current }: { current: Upload }) {
  const sum = (name: "total" | "created" | "updated" | "unchanged") =>
    count(
      current.parts.reduce(
        (all, { step }) =>
          step.name === "ready" ? all + step.counts[name] : all,
        0,
      ),
    );
  return (
    <div class="note good">
      <p>
        <strong>No problems.</strong> The upload would do this:
      </p>
      <dl class="figures">
        <Figure label="products" value={sum("total")} />
        <Figure label="new" value={sum("created")} />
        <Figure label="changed" value={sum("updated")} />
        <Figure label="unchanged" value={sum("unchanged")} />
      </dl>
    </div>
  );
}
