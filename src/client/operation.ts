/** A row of the table of operations. */
export interface Operation {
  /** GET by default. */
  readonly method?: "POST" | "PUT" | "DELETE";
  /** `:name` is a parameter. */
  readonly path: string;
  /** The root element of the request's document. */
  readonly sends?: string;
  /** The name of the input that is the request body, a Blob. */
  readonly sendsFile?: string;
  /** Whether the operation takes an Idempotency-Key. */
  readonly takesIdempotencyKey?: true;
  /** Whether the service recognizes a repetition by the document's reference. */
  readonly hasReference?: true;
  /** Whether `Authorization: Bearer` has the key, instead of X-Service-Auth. */
  readonly bearer?: true;
  /** Whether the method has no parameter `input`. */
  readonly inputless?: true;
  /** Accepted media types of the answer; JSON by default. */
  readonly accept?: string;
  /** The type of the answer if it is not JSON; null for an answer without body. */
  readonly answer?: "text" | "blob" | null;
  /** The name of the list in the answer, if the list comes in pages. */
  readonly pages?: string;
  /**
   * The name of the list's entries, if the list is an object with more members.
   */
  readonly item?: string;
}

/** A row for each method, such as `table.products.list`. */
export type OperationTable<M> = {
  readonly [N in keyof M]: { readonly [V in keyof M[N]]: Operation };
};
