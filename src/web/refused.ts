/** What an upload or an import has refused, to be corrected here. */
import type { Watched } from "./background.ts";
import type { Client } from "../client/mod.ts";
import { isImport } from "./names.ts";
import { sheetOf } from "./sheet.ts";
import { showLeft, takeDocument, takeSheet } from "./upload.ts";

/** Takes it from where the service keeps it, unless the file is still here. */
export async function correctRefused(
  client: Client,
  watched: Watched,
  name: string,
  load: () => Promise<string>,
): Promise<void> {
  const isHere = isImport(watched) &&
    await showLeft(client, watched.import_id);
  if (isHere) return;
  const text = await load();
  const stored = await storedIn(client, watched);
  const sheet = sheetOf(name, text);
  if (sheet !== null) takeSheet(client, sheet, stored);
  else takeDocument(client, name, text, stored);
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
