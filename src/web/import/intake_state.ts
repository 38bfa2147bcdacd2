/**
 * What somebody took last: a table whose columns are being mapped, or why a file
 * is not taken. It is outside the views, so that a change of view loses nothing.
 */
import { Store } from "../lib/store.ts";
import type { Finding } from "./check/finding.ts";
import type { Book } from "./columns/sheet.ts";
import type { Table } from "./read/csv.ts";
import type { Encoding } from "./read/encodings.ts";
import type { UnusableFile } from "./read/kinds.ts";
import { dropFile } from "./send/upload_state.ts";

/** A table whose columns are being mapped. */
export interface Spreadsheet {
  name: string;
  table: Table;
  /** What was done to its rows, in sentences. */
  note: string;
  book: Book | null;
  /** What must be answered before it is sent. */
  questions: readonly Finding[];
  /** How its text is read, and may be; null: it is Unicode. */
  encoding: {
    name: string;
    all: readonly Encoding[];
    choose: (name: string) => void;
  } | null;
}

export type Intake =
  | { name: "empty" }
  | { name: "refused"; refused: UnusableFile }
  | { name: "reading"; file: string }
  | { name: "spreadsheet"; spreadsheet: Spreadsheet };

/** What was taken last. A table stays while its products are checked. */
export const intake = new Store<Intake>({ name: "empty" });

let taking = new AbortController();

/** Ends what is being read of what was taken before. */
export function startTaking(): AbortSignal {
  taking.abort();
  taking = new AbortController();
  return taking.signal;
}

/** Goes back to where nothing was taken. */
export function dropAll(): void {
  startTaking();
  dropFile();
  intake.set({ name: "empty" });
}
