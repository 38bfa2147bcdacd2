/** The upload view: drop a file, see its problems or effects, upload it. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ApiError, Client, Problem } from "../client.ts";
import {
  Announcer,
  bytes,
  count,
  ErrorFacts,
  ErrorNote,
  Figure,
  plural,
  Title,
} from "../parts.tsx";
import { goTo, route } from "../route.ts";
import { sandbox } from "../sandbox.ts";
import { type Place, Source } from "../source.tsx";
import { useStore } from "../store.ts";
import {
  checkFile,
  dropFile,
  sendFile,
  takeFile,
  type Upload,
  upload,
} from "../upload.ts";

export function UploadView({ client }: { client: Client }) {
  const current = useStore(upload);
  useEffect(() => {
    if (upload.value?.step.name === "kept") checkFile(client);
  }, [client]);
  return (
    <>
      <Title>Upload products</Title>
      <Announcer text={current === null ? "" : announcement(current)} />
      {current === null
        ? <DropZone client={client} />
        : <FileView client={client} current={current} />}
    </>
  );
}

function announcement({ step, fileName }: Upload): string {
  switch (step.name) {
    case "checking":
      return `${fileName} is being checked.`;
    case "refused":
      return `${plural(step.error.problems.length, "problem")} found.`;
    case "ready":
      return `${plural(step.counts.total, "product")} can be uploaded.`;
    case "sending":
      return step.interruption === null
        ? "The upload is on its way."
        : "The upload was interrupted and is tried again.";
    case "failed":
    case "kept":
      return "";
  }
}

function DropZone({ client }: { client: Client }) {
  const input = useRef<HTMLInputElement>(null);
  const take = (file: File | undefined) => {
    if (file !== undefined) takeFile(client, file);
  };
  return (
    <div class="drop">
      <p class="big">Drop an XML file anywhere on this page</p>
      <p class="quiet">
        Up to 250 products. It is checked first; nothing is stored before you
        say so.
      </p>
      <p class="row centred">
        <button
          type="button"
          class="main"
          onClick={() => input.current?.click()}
        >
          Choose a file…
        </button>
        {sandbox?.samples.map(({ name, label, xml }) => (
          <button
            key={name}
            type="button"
            onClick={() => take(new File([xml], name))}
          >
            {label}
          </button>
        ))}
      </p>
      <input
        ref={input}
        type="file"
        class="unseen"
        tabIndex={-1}
        accept=".xml,text/xml,application/xml"
        aria-label="File with products"
        onChange={(event) => take(event.currentTarget.files?.[0])}
      />
    </div>
  );
}

function FileView({ client, current }: { client: Client; current: Upload }) {
  const { step, lines } = current;
  const [place, setPlace] = useState<Place | null>(null);
  const problems = step.name === "refused" ? step.error.problems : [];
  const marked = useMemo(
    () => new Set(problems.map(({ line }) => line ?? 0)),
    [problems],
  );
  return (
    <>
      <FileBar client={client} current={current} />
      <div class="beside">
        <div class="side">
          <StepView
            client={client}
            current={current}
            place={place}
            onPlace={(line) =>
              setPlace((last) => ({ line, wish: (last?.wish ?? 0) + 1 }))}
          />
        </div>
        {lines === null
          ? <p class="quiet">The source of this file is not shown here.</p>
          : <Source lines={lines} marked={marked} place={place} />}
      </div>
    </>
  );
}

function FileBar({ client, current }: { client: Client; current: Upload }) {
  const { step } = current;
  const busy = step.name === "checking" || step.name === "sending";
  const send = async (work: "upload" | "upload valid") => {
    const id = await sendFile(client, work);
    const stillHere = ["", "upload"].includes(route.value.view);
    if (id !== null && stillHere) goTo("uploads", id);
  };
  return (
    <div class="bar">
      <strong class="cut grow">{current.fileName}</strong>
      <span class="quiet">{bytes(current.size)}</span>
      <button type="button" onClick={dropFile}>Another file</button>
      {!busy && step.name !== "ready" && (
        <button
          type="button"
          onClick={() => checkFile(client)}
        >
          Check again
        </button>
      )}
      {step.name === "ready" && (
        <button
          type="button"
          class="main"
          onClick={() => send("upload")}
        >
          Upload {plural(step.counts.total, "product")}
        </button>
      )}
      {step.name === "refused" && mayStorePart(step.error) && (
        <button
          type="button"
          class="main"
          onClick={() => send("upload valid")}
        >
          Upload the valid ones
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

/** Whether all problems belong to single products. */
function mayStorePart({ status, problems }: ApiError): boolean {
  return status === 422 && problems.length > 0 &&
    problems.every(({ product }) => product !== null);
}

interface StepProps {
  client: Client;
  current: Upload;
  place: Place | null;
  onPlace: (line: number) => void;
}

function StepView({ client, current, place, onPlace }: StepProps) {
  const { step } = current;
  switch (step.name) {
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
      return <Problems error={step.error} place={place} onPlace={onPlace} />;
    case "ready":
      return <Ready current={current} />;
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
              onClick={() => checkFile(client)}
            >
              Check the file
            </button>
          </p>
        </div>
      );
  }
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
          <p>{interruption.message}</p>
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
  if (current.step.name !== "ready") return null;
  const { total, created, updated, unchanged } = current.step.counts;
  return (
    <div class="note good">
      <p>
        <strong>No problems.</strong> The upload would do this:
      </p>
      <dl class="figures">
        <Figure label="products" value={count(total)} />
        <Figure label="new" value={count(created)} />
        <Figure label="changed" value={count(updated)} />
        <Figure label="unchanged" value={count(unchanged)} />
      </dl>
    </div>
  );
}

function Problems({ error, place, onPlace }: {
  error: ApiError;
  place: Place | null;
  onPlace: (line: number) => void;
}) {
  const { problems, more, message } = error;
  const products = new Set(problems.map(({ product }) => product)).size;
  return (
    <section class="problems" aria-label="Problems">
      <div class="note bad" role="alert">
        <p>
          <strong>
            {problems.length === 0 ? message : problemsIn(
              problems.length + more,
              // The products of further problems are unknown.
              problems[0].product === null || more > 0 ? 0 : products,
            )}
          </strong>
          {problems.length > 0 && " Nothing was stored."}
        </p>
        <ErrorFacts error={error} />
      </div>
      <ol>
        {problems.map((problem, i) => (
          <li key={i}>
            <ProblemRow
              problem={problem}
              current={problem.line !== null && place?.line === problem.line}
              onPlace={onPlace}
            />
          </li>
        ))}
      </ol>
      {more > 0 && <p class="quiet">and {plural(more, "more problem")}.</p>}
    </section>
  );
}

function problemsIn(problems: number, products: number): string {
  const found = plural(problems, "problem");
  return products === 0
    ? `${found}.`
    : `${found} in ${plural(products, "product")}.`;
}

function ProblemRow({ problem, current, onPlace }: {
  problem: Problem;
  current: boolean;
  onPlace: (line: number) => void;
}) {
  const { line, column, sku, product, field, code, message } = problem;
  return (
    <button
      type="button"
      class="problem"
      disabled={line === null}
      aria-current={current ? "location" : undefined}
      onClick={() => line !== null && onPlace(line)}
    >
      <span class="where">
        {line !== null && <b>line {line}</b>}
        {column !== null && <span>column {column}</span>}
        {(sku ?? product) !== null && <span>{sku ?? `product ${product}`}
        </span>}
        {field !== null && <span class="mono">{field}</span>}
      </span>
      <span class="what">{message}</span>
      <code>{code}</code>
    </button>
  );
}
