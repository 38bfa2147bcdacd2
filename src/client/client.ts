/** The clients: every operation is a method, grouped by noun. */
import { type ClientOptions, Connection } from "./connection.ts";
import type { CallOptions } from "./connection.ts";
import { Follower } from "./follow.ts";
import { PagedList } from "./list.ts";
import {
  OPERATOR_OPERATIONS,
  type OperatorOperations,
  type OperatorXmlOperations,
  SELLER_OPERATIONS,
  type SellerOperations,
  type SellerXmlOperations,
} from "./operations.ts";
import type { Operation } from "./operation.ts";
import type { Import, Result, Transaction } from "./types.ts";

/** An object with the id of an upload, such as the answer to the upload. */
export interface UploadId {
  transaction_id: string;
}

/** An object with the id of an import, such as the answer to the import. */
export interface ImportId {
  import_id: string;
}

/** Methods for an upload; each may send several requests. */
interface UploadMethods {
  /**
   * Waits until the transaction is final, and returns it with its results.
   * Throws any error that an operation may throw, and `LimitError` after
   * `Limits.followFor`.
   */
  waitFor(upload: UploadId, options?: CallOptions): Promise<Transaction>;
  /**
   * Yields the transaction, without its results, after each change. The last
   * yielded transaction is final. Reopens a broken stream; `retryFor` counts
   * from the last change.
   */
  follow(upload: UploadId, options?: CallOptions): AsyncGenerator<Transaction>;
  /** Yields the result of each product, from as many answers as needed. */
  results(upload: UploadId, options?: CallOptions): AsyncGenerator<Result>;
}

/** Methods for an import; each may send several requests. */
interface ImportMethods {
  /** Waits until the import is final, and returns it with its problems. */
  waitFor(importId: ImportId, options?: CallOptions): Promise<Import>;
  /** Yields the import, without its problems, after each change. */
  follow(importId: ImportId, options?: CallOptions): AsyncGenerator<Import>;
}

/** A client with the key of a seller. */
export interface Client extends SellerOperations {
  readonly uploads: SellerOperations["uploads"] & UploadMethods;
  readonly imports: SellerOperations["imports"] & ImportMethods;
  /** The same operations; each returns its answer as XML text. */
  readonly xml: SellerXmlOperations;
}

/** A client with the key of an operator. */
export interface OperatorClient extends OperatorOperations {
  /** The same operations; each returns its answer as XML text. */
  readonly xml: OperatorXmlOperations;
  /**
   * A client that reads the data of the seller with this name or id. The
   * service refuses changes by this client, and records its requests in the
   * audit log.
   */
  seller(seller: string): Client;
}

/** A client for the service at `url` with the key of a seller. */
export function createClient(options: ClientOptions): Client {
  const connection = new Connection(options);
  const operations = methodsOf<SellerOperations>(connection, SELLER_OPERATIONS);
  const uploads = new Follower(connection, "upload");
  const imports = new Follower(connection, "import");
  return {
    ...operations,
    uploads: {
      ...operations.uploads,
      waitFor: (upload, callOptions) =>
        uploads.waitFor(
          (wait) =>
            operations.uploads.get({ ...idOf(upload), wait }, callOptions),
          ({ transaction }) => transaction,
          callOptions,
        ),
      follow: (upload, callOptions) =>
        uploads.follow(
          SELLER_OPERATIONS.uploads.get,
          idOf(upload),
          ({ transaction }) => transaction as Transaction,
          callOptions,
        ),
      results: (upload, callOptions) =>
        uploads.results(
          (after) =>
            operations.uploads.get({ ...idOf(upload), after }, callOptions),
        ),
    },
    imports: {
      ...operations.imports,
      waitFor: (importId, callOptions) =>
        imports.waitFor(
          (wait) =>
            operations.imports.get(
              { ...importIdOf(importId), wait },
              callOptions,
            ),
          (answer) => answer.import,
          callOptions,
        ),
      follow: (importId, callOptions) =>
        imports.follow(
          SELLER_OPERATIONS.imports.get,
          importIdOf(importId),
          (event) => event.import as Import,
          callOptions,
        ),
    },
    xml: xmlMethodsOf<SellerXmlOperations>(connection, SELLER_OPERATIONS),
  };
}

/** A client for the service at `url` with the key of an operator. */
export function createOperatorClient(options: ClientOptions): OperatorClient {
  const connection = new Connection(options);
  return {
    ...methodsOf<OperatorOperations>(connection, OPERATOR_OPERATIONS),
    xml: xmlMethodsOf<OperatorXmlOperations>(connection, OPERATOR_OPERATIONS),
    seller: (seller) =>
      createClient({
        ...options,
        url: `${connection.url}/operator_api/sellers/${
          encodeURIComponent(seller)
        }`,
      }),
  };
}

/**
 * Only the id, because an answer may have more members, which would be sent as
 * parameters.
 */
function idOf({ transaction_id }: UploadId): UploadId {
  return { transaction_id };
}

function importIdOf({ import_id }: ImportId): ImportId {
  return { import_id };
}

const AS_XML = { accept: "text/xml", answer: "text" } as const;

type Input = Readonly<Record<string, unknown>> | undefined;

/** The rows of operations by noun and verb, such as `table.products.list`. */
type Table = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** A method for each operation of a table. */
function methodsOf<M>(connection: Connection, table: object): M {
  return methods(
    table,
    (row, input = {}, options) =>
      row.pages === undefined
        ? connection.call(row, input, options)
        : new PagedList(connection, row, input, options),
  ) as M;
}

/** A method for each operation of a table; each method returns XML text. */
function xmlMethodsOf<M>(connection: Connection, table: object): M {
  return methods(
    table,
    (row, input, options) =>
      connection.call({ ...row, ...AS_XML }, input, options),
  ) as M;
}

/**
 * Makes a method for each row. A method takes options, and an input unless the
 * row is `inputless`.
 */
function methods(
  table: object,
  call: (row: Operation, input: Input, options?: CallOptions) => unknown,
): object {
  const method = (row: Operation) =>
    row.inputless
      ? (options?: CallOptions) => call(row, {}, options)
      : (input?: Input, options?: CallOptions) => call(row, input, options);
  return mapValues(
    table as Table,
    (rows) => mapValues(rows, method),
  );
}

function mapValues<V, W>(
  values: Readonly<Record<string, V>>,
  map: (value: V) => W,
): Record<string, W> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, map(value)]),
  );
}
