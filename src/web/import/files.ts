/**
 * The code that reads, corrects and sends files. The browser loads this script
 * when the first file is opened.
 */
export { openPastedText } from "./intake.ts";
export { correctRefused, refusedFile } from "./send/refused.ts";
export { templateCsv } from "./columns/spreadsheet.ts";
export { takeDropped } from "./take.ts";
export { CategoryTemplate } from "./category_template.tsx";
export { ColumnsView } from "./columns.tsx";
export { FileView } from "./file.tsx";
