/** Offers what an upload or an import has refused for correction. */
import { Changing } from "../changing.tsx";
import type { Watched } from "../background.ts";
import type { Client } from "../../client/mod.ts";
import { saveFile } from "../browser.ts";
import { isImport, titleOf } from "../names.ts";
import { ErrorNote, plural, useAction } from "../parts.tsx";
import { goTo } from "../route.ts";
import { sheetOf } from "../sheet.ts";
import { showLeft, takeDocument, takeSheet } from "../upload.ts";

export function RefusedBar({ client, watched }: {
  client: Client;
  watched: Watched;
}) {
  const { busy, error, run } = useAction();
  const { refused = 0 } = watched.products;
  const name = `refused-${titleOf(watched)}`;
  const load = () =>
    isImport(watched)
      ? client.getRefusedOfImport({ import_id: watched.import_id })
      : client.getRefusedProducts({ transaction_id: watched.transaction_id });
  const download = async () =>
    saveFile(
      new Blob([await load()]),
      `${name.replace(/\.\w+$/, "")}.xml`,
    );
  const correct = async () => {
    const isHere = isImport(watched) &&
      await showLeft(client, watched.import_id);
    if (!isHere) {
      const text = await load();
      const stored = await storedIn(client, watched);
      const sheet = sheetOf(name, text);
      if (sheet !== null) takeSheet(client, sheet, stored);
      else takeDocument(client, name, text, stored);
    }
    goTo("upload");
  };
  return (
    <div class="note warn">
      <p class="row">
        <span class="grow">
          {plural(refused, "product")}{" "}
          refused. Correct them here, or in a file that names their problems in
          comments; then upload them.
        </span>
        <Changing>
          <button
            type="button"
            class="main"
            disabled={busy}
            onClick={() => run(correct)}
          >
            Correct them here
          </button>
        </Changing>
        <button type="button" disabled={busy} onClick={() => run(download)}>
          Download the refused products
        </button>
      </p>
      {error && <ErrorNote error={error} />}
    </div>
  );
}

function resultsOf(client: Client, import_id: string) {
  return client.all.getImportResults({ import_id, limit: 250 });
}

/** Whose the SKUs are that it has stored. */
async function storedIn(
  client: Client,
  watched: Watched,
): Promise<Map<string, string>> {
  const stored = new Map<string, string>();
  const [results, what] = isImport(watched)
    ? [resultsOf(client, watched.import_id), "import"]
    : [client.results(watched), "upload"];
  let product = 0;
  for await (const { sku, result } of results) {
    product++;
    if (sku !== undefined && result !== "refused" && result !== "not_stored") {
      stored.set(sku, `product ${product} of the same ${what}`);
    }
  }
  return stored;
}
