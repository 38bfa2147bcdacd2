/**
 * The thread that reads and writes workbooks, so that no file stops the page.
 * It is loaded with the first workbook.
 */
import {
  correctedBook,
  newBook,
  readSheet,
  type SheetTable,
  UnreadableError,
  type Wanted,
} from "./book.ts";

/** What the page asks. */
export type Question =
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
export type Answer =
  | { name: "sheet"; sheet: SheetTable }
  | { name: "book"; bytes: ArrayBuffer }
  | { name: "unreadable"; message: string };

function answerTo(question: Question): Answer {
  switch (question.name) {
    case "read": {
      const { bytes, wanted } = question;
      return { name: "sheet", sheet: readSheet(bytes, wanted) };
    }
    case "correct": {
      const { bytes, sheet, rows } = question;
      return { name: "book", bytes: correctedBook(bytes, sheet, rows) };
    }
    case "write":
      return { name: "book", bytes: newBook(question.rows, question.numbers) };
  }
}

addEventListener("message", ({ data }: MessageEvent<Question>) => {
  try {
    postMessage(answerTo(data));
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    const { message } = error;
    postMessage({ name: "unreadable", message } satisfies Answer);
  }
});
