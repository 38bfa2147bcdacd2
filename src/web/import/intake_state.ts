/**
 * The last intake: a table whose columns are being mapped, or why a file was
 * not accepted. It is stored outside the views, so that a change of view loses
 * nothing.
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
  /** The encoding of the text, and other possible ones; null: it is Unicode. */
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

/** The last intake. A table stays while its products are checked. */
export const intake = new Store<Intake>({ name: "empty" });

let taking = new AbortController();

/** Stops the reading of an earlier intake. */
export function startTaking(): AbortSignal {
  taking.abort();
  taking = new AbortController();
  return taking.signal;
}

/** Returns to the state without an intake. */
export function dropAll(): void {
  startTaking();
  dropFile();
  intake.set({ name: "empty" });
}
