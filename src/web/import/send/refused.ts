/** Opens the products that an upload or import refused, for correction. */
import { PAGE_LIMIT } from "../../../lib/request_limits.ts";
import type { WatchedUpload } from "../../state/background.ts";
import type { Client, ImportResult, Result } from "../../../client/mod.ts";
import { isJson } from "../../lib/markup.ts";
import { isImport } from "../../state/names.ts";
import { correctedFile, tableOfDocument } from "../columns/sheet.ts";
import {
  openDocumentText,
  openMappedTable,
  showLeftOutRows,
} from "./upload.ts";

/** Opens the refused products from the open file, or loads them. */
export async function correctRefused(
  client: Client,
  watched: WatchedUpload,
  name: string,
): Promise<void> {
  const isHere = isImport(watched) &&
    await showLeftOutRows(client, watched.import_id);
  if (isHere) return;
  const text = await loadRefused(client, watched);
  const stored = await storedIn(client, watched);
  const sheet = tableOfDocument(name, text);
  if (sheet !== null) openMappedTable(client, sheet, stored);
  else openDocumentText(client, name, text, stored);
}

/** A file with the refused products and their problems, and its extension. */
export async function refusedFile(
  client: Client,
  watched: WatchedUpload,
  name: string,
): Promise<{ content: Blob; ending: string }> {
  const text = await loadRefused(client, watched);
  if (!isJson(text)) {
    return { content: new Blob([text]), ending: "xml" };
  }
  // JSON has no comments for problems, so JSON is converted to a table.
  const sheet = tableOfDocument(name, text);
  return sheet === null
    ? { content: new Blob([text]), ending: "json" }
    : await correctedFile(sheet, await problemsOf(client, watched));
}

/** The refused products, in the format in which they were sent. */
function loadRefused(client: Client, watched: WatchedUpload): Promise<string> {
  return isImport(watched)
    ? client.imports.refused({ import_id: watched.import_id })
    : client.uploads.refused({ transaction_id: watched.transaction_id });
}

/** The results of the products. */
function resultsOf(
  client: Client,
  watched: WatchedUpload,
): AsyncIterable<Result | ImportResult> {
  return isImport(watched)
    ? client.imports.results({
      import_id: watched.import_id,
      limit: PAGE_LIMIT.maximum,
    })
    : client.uploads.results(watched);
}

/** The problems of the refused products, in the order of the products. */
async function problemsOf(
  client: Client,
  watched: WatchedUpload,
): Promise<Map<number, string[]>> {
  const found = new Map<number, string[]>();
  for await (const { result, details = [] } of resultsOf(client, watched)) {
    if (result !== "refused") continue;
    found.set(found.size, details.map(({ message }) => message));
  }
  return found;
}

/** The stored SKUs, each with the name of its row. */
async function storedIn(
  client: Client,
  watched: WatchedUpload,
): Promise<Map<string, string>> {
  const stored = new Map<string, string>();
  const what = isImport(watched) ? "import" : "upload";
  let product = 0;
  for await (const { sku, result } of resultsOf(client, watched)) {
    product++;
    if (sku !== undefined && result !== "refused" && result !== "not_stored") {
      stored.set(sku, `product ${product} of the same ${what}`);
    }
  }
  return stored;
}
