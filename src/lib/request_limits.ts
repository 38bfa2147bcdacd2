/** Limits of requests that the page also uses. */

/** Entries of a page of a list: the default and the maximum. */
export const PAGE_LIMIT = { default: 50, maximum: 250 };

/** The most products of an import. */
export const IMPORT_PRODUCTS = 50_000;

/** The most code points of an import's name. */
export const IMPORT_NAME_LENGTH = 255;
