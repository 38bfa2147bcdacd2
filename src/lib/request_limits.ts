/** Limits of requests, which the page keeps to. */

/** Entries of a page of a list, by default and at most. */
export const PAGE_LIMIT = { default: 50, maximum: 250 };

/** Code points of the name of an import at most. */
export const IMPORT_NAME_LENGTH = 255;
