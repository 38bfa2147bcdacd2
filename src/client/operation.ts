/** A row of the table of operations. */
export interface Operation {
  /** GET when left out. */
  readonly method?: "POST" | "PUT" | "DELETE";
  /** `:name` is a parameter. */
  readonly path: string;
  /** The root of the document that is sent. */
  readonly sends?: string;
  /** It takes an Idempotency-Key. */
  readonly keyed?: true;
  /** The key goes into `Authorization`. */
  readonly bearer?: true;
  /** The types that the answer may have; JSON when left out. */
  readonly accept?: string;
  /** The type of the body if it is not JSON; null: there is no body. */
  readonly answer?: "text" | "blob" | null;
  /** The list in the answer, if it comes in pages. */
  readonly pages?: string;
  /** The name of its entries, where the list is an object with more members. */
  readonly item?: string;
}
