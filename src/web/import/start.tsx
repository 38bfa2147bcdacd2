/** The start view, in which the user opens a file. */
import { PAGE_LIMIT } from "../../lib/request_limits.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { pickFile, saveFile } from "../lib/browser.ts";
import type { Client } from "../../client/mod.ts";
import type { UnusableFile } from "./read/kinds.ts";
import { lazy } from "../ui/lazy.tsx";
import {
  Announcer,
  Form,
  LocalTime,
  Title,
  useLoaded,
  WhenLoaded,
} from "../ui/components.tsx";
import { plural } from "../lib/format.ts";
import { linkTo } from "../state/route.ts";
import { hasCategories } from "../lib/categories.ts";
import { sampleFile, sandbox } from "../state/sandbox.ts";
import { useStore } from "../lib/store.ts";
import { PictureChoosers } from "../pictures/choosers.tsx";
import { openPictures } from "../pictures/current.ts";
import { loadPictures } from "./load_pictures.ts";
import { loadFiles, openFiles, openText } from "./open.ts";
import { intake } from "./intake_state.ts";
import {
  nameOfFileBeingSent,
  type Upload,
  upload,
} from "./send/upload_state.ts";

const ColumnsView = lazy(async () => (await loadFiles()).ColumnsView);
const FileView = lazy(async () => (await loadFiles()).FileView);
const OpenPictures = lazy(async () => (await loadPictures()).OpenPictures);
const CategoryTemplate = lazy(async () => (await loadFiles()).CategoryTemplate);

export function UploadView({ client }: { client: Client }) {
  const current = useStore(upload);
  const currentIntake = useStore(intake);
  const pictures = useStore(openPictures);
  usePaste(client);
  return (
    <>
      <Title>Upload products</Title>
      <Announcer text={current === null ? "" : announcement(current)} />
      {current !== null
        ? <FileView client={client} current={current} />
        : currentIntake.name === "spreadsheet"
        ? (
          <ColumnsView
            key={currentIntake.spreadsheet}
            client={client}
            spreadsheet={currentIntake.spreadsheet}
          />
        )
        : currentIntake.name === "reading"
        ? <p class="quiet" role="status">{currentIntake.file} is being read…</p>
        : (
          <>
            <InterruptedNote client={client} />
            {pictures !== null && (
              <OpenPictures client={client} set={pictures} />
            )}
            <DropZone
              client={client}
              refused={currentIntake.name === "refused"
                ? currentIntake.refused
                : null}
            />
          </>
        )}
    </>
  );
}

/** Shows the outcome of an upload during which the page was closed. */
function InterruptedNote({ client }: { client: Client }) {
  const [name, setName] = useState(nameOfFileBeingSent.get);
  const loaded = useLoaded(async (signal) => {
    if (name === null) return [];
    const { imports } = await client.imports.list(
      { limit: PAGE_LIMIT.maximum },
      { signal },
    );
    return imports.filter((one) => one.name === name && !one.dry_run);
  }, [client, name]);
  if (name === null) return null;
  return (
    <div class="note warn" role="status">
      <p>
        <strong>{name} was being sent when this page was left.</strong>
      </p>
      <WhenLoaded loaded={loaded}>
        {([found]) =>
          found === undefined
            ? (
              <p>
                It did not arrive, so nothing was stored. Choose it again.
              </p>
            )
            : (
              <p>
                The last import with this name began on{" "}
                <LocalTime iso={found.created_at} exact />:{" "}
                <a href={linkTo("imports", found.import_id)}>open it</a>. If
                that was an earlier upload, choose the file again.
              </p>
            )}
      </WhenLoaded>
      <p>
        <button
          type="button"
          onClick={() => {
            nameOfFileBeingSent.set(null);
            setName(null);
          }}
        >
          Close
        </button>
      </p>
    </div>
  );
}

/** Opens text that is pasted outside of input fields. */
function usePaste(client: Client): void {
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const isField = event.target instanceof Element &&
        event.target.matches("input, textarea, select");
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (isField || text === "") return;
      event.preventDefault();
      openText(client, text);
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
        ? "The file is being sent."
        : "The upload was interrupted and is retried.";
    case "sent":
    case "failed":
    case "kept":
      return "";
  }
}

function DropZone({ client, refused }: {
  client: Client;
  refused: UnusableFile | null;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [isPasting, setPasting] = useState(false);
  const [isChoosing, setChoosing] = useState(false);
  const { data: hasList } = useLoaded(
    (signal) => hasCategories(client, signal),
    [client],
  );
  const choose = async () => {
    const picked = await pickFile();
    if (picked === "unsupported") input.current?.click();
    else if (picked !== null) {
      openFiles(client, [picked.file], picked.handle);
    }
  };
  const take = (file: File | undefined) => {
    if (file !== undefined) openFiles(client, [file]);
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
        <p class="big">
          Drop a file with products, or pictures, anywhere on this page
        </p>
        <p class="quiet">
          A table (CSV, Excel) of any length, XML or JSON. It is checked first;
          nothing is stored before you confirm. Pictures go to the products
          whose SKUs are in their names, such as MUG-1.jpg or MUG-1-back.jpg.
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
            onClick={saveTemplate}
          >
            Download a template
          </button>
          {hasList && (
            <button
              type="button"
              aria-expanded={isChoosing}
              onClick={() => setChoosing(!isChoosing)}
            >
              Template for a category…
            </button>
          )}
        </p>
        <p class="row centred">
          <PictureChoosers onFiles={(files) => openFiles(client, files)} />
        </p>
        {sandbox && (
          <p class="row centred">
            <span class="quiet">Sandbox:</span>
            {sandbox.samples.map((sample) => (
              <button
                key={sample.name}
                type="button"
                onClick={() => take(sampleFile(sample))}
              >
                {sample.label}
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
      {isChoosing && <CategoryTemplate client={client} />}
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
      onSubmit={async () => setOdd(!await openText(client, text))}
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
          This text has no columns. Copy the row with the column names, too.
        </p>
      )}
      <p>
        <button type="submit" class="main" disabled={text.trim() === ""}>
          Use these rows
        </button>
      </p>
    </Form>
  );
}

async function saveTemplate(): Promise<void> {
  const { templateCsv } = await loadFiles();
  saveFile(
    new Blob([templateCsv()], { type: "text/csv" }),
    "products-template.csv",
  );
}
