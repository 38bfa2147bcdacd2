/** Messages between the page and the thread that reads workbooks. */
import type { SheetTable, Wanted } from "./book.ts";

/** A request of the page. */
export type WorkerRequest =
  | { name: "read"; bytes: ArrayBuffer; wanted: Wanted }
  | {
    name: "correct";
    bytes: ArrayBuffer;
    sheet: string;
    rows: readonly { number: number; texts: readonly string[] }[];
  }
  | {
    name: "write";
    rows: readonly (readonly string[])[];
    /** The columns with numbers. */
    numbers: readonly number[];
  };

/** `unreadable`: why, in sentences. */
export type WorkerResponse =
  | { name: "sheet"; sheet: SheetTable }
  | { name: "book"; bytes: ArrayBuffer }
  | { name: "unreadable"; message: string };
