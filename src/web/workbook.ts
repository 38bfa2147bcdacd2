/**
 * The worker that reads and writes workbooks, so that no file blocks the page.
 * It is loaded for the first workbook.
 */
import {
  correctedBook,
  newBook,
  readSheet,
  templateBook,
  UnreadableError,
} from "./import/read/workbook/book.ts";
import { countKnownNames } from "./import/columns/headers.ts";
import type {
  WorkerRequest,
  WorkerResponse,
} from "./import/read/workbook/messages.ts";

function answerTo(question: WorkerRequest): WorkerResponse {
  switch (question.name) {
    case "read": {
      const { bytes, wanted } = question;
      return {
        name: "sheet",
        sheet: readSheet(bytes, wanted, countKnownNames),
      };
    }
    case "correct": {
      const { bytes, sheet, rows } = question;
      return { name: "book", bytes: correctedBook(bytes, sheet, rows) };
    }
    case "template":
      return { name: "book", bytes: templateBook(question.columns) };
    case "write":
      return { name: "book", bytes: newBook(question.rows, question.numbers) };
  }
}

addEventListener("message", ({ data }: MessageEvent<WorkerRequest>) => {
  try {
    postMessage(answerTo(data));
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    const { message } = error;
    postMessage({ name: "unreadable", message } satisfies WorkerResponse);
  }
});
