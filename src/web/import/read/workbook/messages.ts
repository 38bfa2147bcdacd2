/** Messages between the page and the worker for workbooks. */
import type { SheetTable, TemplateColumn, Wanted } from "./book.ts";

/** A request to the worker. */
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
    /** The indices of columns with numbers. */
    numbers: readonly number[];
  }
  | { name: "template"; columns: readonly TemplateColumn[] };

/** A response of the worker. */
export type WorkerResponse =
  | { name: "sheet"; sheet: SheetTable }
  | { name: "book"; bytes: ArrayBuffer }
  | { name: "unreadable"; message: string };
