/**
 * Everything to read, repair and send files: one part of the page, loaded for
 * the first file.
 */
export { takeAnyFile, takeText } from "./intake.ts";
export { correctRefused, refusedFile } from "./send/refused.ts";
export { templateCsv } from "./columns/spreadsheet.ts";
export { ColumnsView } from "./columns.tsx";
export { FileView } from "./file.tsx";
