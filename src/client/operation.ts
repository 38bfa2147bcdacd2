/** A row of the table of operations. */
export interface Operation {
  /** GET by default. */
  readonly method?: "POST" | "PUT" | "DELETE";
  /** `:name` is a parameter. */
  readonly path: string;
  /** The root element of the request's document. */
  readonly sends?: string;
  /** The input that is sent as the body, byte for byte. */
  readonly sendsFile?: string;
  /** Whether it takes an Idempotency-Key. */
  readonly keyed?: true;
  /** Whether the service recognizes a repetition by the document itself. */
  readonly referenced?: true;
  /** Whether the key goes into `Authorization`. */
  readonly bearer?: true;
  /** Whether the operation takes nothing but options. */
  readonly inputless?: true;
  /** Accepted media types of the answer; JSON by default. */
  readonly accept?: string;
  /** The type of the body if it is not JSON; null if there is no body. */
  readonly answer?: "text" | "blob" | null;
  /** The list in the answer, if it comes in pages. */
  readonly pages?: string;
  /**
   * The name of the list's entries, if the list is an object with more members.
   */
  readonly item?: string;
}

/** A row for each method: `table.products.list` for `client.products.list`. */
export type OperationTable<M> = {
  readonly [N in keyof M]: { readonly [V in keyof M[N]]: Operation };
};
