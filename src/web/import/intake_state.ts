/**
 * The intake: the open table whose columns are being mapped, or the reason why a
 * file was refused. The page stores the intake outside of the views, so that a
 * change of the view does not lose it.
 */
import { discardPictures, openPictures } from "../pictures/current.ts";
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
  /** Sentences about changes of the rows. */
  note: string;
  book: Book | null;
  /** The questions that must be answered before the table is sent. */
  questions: readonly Finding[];
  /** The encoding of the text, and other possible ones; null for Unicode. */
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

/** The current intake. It still has the table while the products are checked. */
export const intake = new Store<Intake>({ name: "empty" });

let opening = new AbortController();

/** Begins an intake, and aborts the former one. */
export function startOpening(): AbortSignal {
  opening.abort();
  opening = new AbortController();
  return opening.signal;
}

/** Discards the intake, and the pictures that were added to its rows. */
export function discardIntake(): void {
  if (openPictures.value?.state.value.placed) discardPictures();
  startOpening();
  dropFile();
  intake.set({ name: "empty" });
}
