/**
 * Everything to read, repair and send files: one part of the page, loaded for
 * the first file.
 */
export { fileOf, fileOfDeleted } from "./catalogue_file.ts";
export { takeAny, takeText } from "./intake.ts";
export { correctRefused, refusedFile } from "./refused.ts";
export { templateCsv } from "./spreadsheet.ts";
export { ColumnsView } from "./views/columns.tsx";
export { FileView } from "./views/file.tsx";
