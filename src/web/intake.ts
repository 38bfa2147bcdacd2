/**
 * What somebody drops, chooses or pastes: a document is checked, a table gets
 * its columns mapped first, anything else is refused before it is sent.
 */
import type { Client } from "../client/mod.ts";
import { now } from "./browser.ts";
import { type Table, tableOf } from "./csv.ts";
import { isTable, kindOf, type Refused } from "./kinds.ts";
import { Store } from "./store.ts";
import { dropFile, takeDocuments, takeFile } from "./upload.ts";

/** A table whose columns are being mapped. */
export interface Spreadsheet {
  name: string;
  table: Table;
}

export type Intake =
  | { name: "empty" }
  | { name: "refused"; refused: Refused }
  | { name: "spreadsheet"; spreadsheet: Spreadsheet };

/** What was taken last. A table stays while its documents are checked. */
export const intake = new Store<Intake>({ name: "empty" });

/** Accepts a file. */
export async function takeAny(
  client: Client | null,
  file: File,
  handle: FileSystemFileHandle | null = null,
): Promise<void> {
  const bytes = await file.arrayBuffer().catch(() => null);
  const kind = bytes === null ? null : kindOf(file.name, bytes);
  if (kind === null || kind.name === "xml") {
    intake.set({ name: "empty" });
    return takeFile(client, file, handle);
  }
  dropFile();
  if (kind.name === "table") takeTable(file.name, kind.text);
  else intake.set(kind);
}

/** Accepts pasted text: a document, or rows of a spreadsheet. */
export async function takeText(
  client: Client | null,
  text: string,
): Promise<boolean> {
  const isXml = text.trimStart().startsWith("<");
  if (!isXml && !isTable(text)) return false;
  const name = `pasted ${new Date(now()).toTimeString().slice(0, 5)}`;
  dropFile();
  if (isXml) {
    intake.set({ name: "empty" });
    await takeDocuments(client, name, [{ name, text }]);
  } else takeTable(name, text);
  return true;
}

/** Goes back to where nothing was taken. */
export function dropAll(): void {
  dropFile();
  intake.set({ name: "empty" });
}

function takeTable(name: string, text: string): void {
  const table = tableOf(text);
  intake.set(
    table.rows.length === 0
      ? {
        name: "refused",
        refused: {
          name,
          what: "a table without rows",
          remedy: "Its first row must name the columns; products follow.",
        },
      }
      : { name: "spreadsheet", spreadsheet: { name, table } },
  );
}
