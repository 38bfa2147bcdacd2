// These npm releases have no types. These are the types of what the service
// uses, from their documentation (https://jsr.io/@std).

declare module "@std/http/negotiation" {
  export function accepts(request: Request, ...types: string[]): string;
  /**
   * The best of these encodings that the client accepts; undefined if it
   * accepts none.
   */
  export function acceptsEncodings(
    request: Request,
    ...encodings: string[]
  ): string | undefined;
}

declare module "@std/http/etag" {
  /** false if the client already has it, so that the answer is 304. */
  export function ifNoneMatch(value: string | null, etag?: string): boolean;
}

declare module "@std/uuid/common" {
  /** Whether a text is a UUID, of any version, in either case. */
  export function validate(text: string): boolean;
}

declare module "@std/text/closest-string" {
  /** The word of the (not empty) list that is nearest to the given one. */
  export function closestString(word: string, possible: string[]): string;
}

declare module "@std/text/levenshtein-distance" {
  /** Characters to insert, delete or replace. */
  export function levenshteinDistance(a: string, b: string): number;
}

declare module "pg" {
  export interface ClientConfig {
    host?: string;
    port?: number;
    user?: string;
    password?: string;
    database?: string;
    ssl?: false | { rejectUnauthorized: boolean; ca?: string };
    application_name?: string;
    connectionTimeoutMillis?: number;
    statement_timeout?: number;
    lock_timeout?: number;
    idle_in_transaction_session_timeout?: number;
    /** Milliseconds after which the client gives up and disconnects. */
    query_timeout?: number;
    keepAlive?: boolean;
    types?: { getTypeParser(oid: number): (text: string) => unknown };
  }
  export interface PoolConfig extends ClientConfig {
    max?: number;
  }
  export interface QueryConfig {
    /** The name under which it is prepared, once for each connection. */
    name?: string;
    text: string;
    values?: readonly unknown[];
  }
  export interface QueryResult {
    rows: unknown[];
  }
  export interface Notification {
    payload?: string;
  }
  export interface Notice {
    message: string;
  }
  export class Client {
    constructor(config: ClientConfig);
    connect(): Promise<unknown>;
    query(query: string | QueryConfig): Promise<QueryResult>;
    /** The answers are passed to the methods of the query. */
    query(query: Submittable): void;
    on(event: "error", fn: (error: Error) => void): void;
    on(event: "end", fn: () => void): void;
    on(event: "notification", fn: (message: Notification) => void): void;
    on(event: "notice", fn: (notice: Notice) => void): void;
    off(event: "notice", fn: (notice: Notice) => void): void;
    end(): Promise<void>;
    /** Undocumented; used where `end` would wait for a silent server. */
    readonly connection: Connection;
  }
  /** Sends messages of the protocol. */
  export interface Connection {
    stream: {
      destroy(): void;
      cork(): void;
      uncork(): void;
    };
    parse(options: { name: string; text: string }): void;
    bind(options: { statement: string; values: readonly unknown[] }): void;
    describe(options: { type: "S" | "P"; name: string }): void;
    close(options: { type: "S" | "P"; name: string }): void;
    execute(): void;
    flush(): void;
    sync(): void;
  }
  export interface RowDescription {
    fields: { name: string; dataTypeID: number }[];
  }
  export interface DataRow {
    fields: (string | null)[];
  }
  export interface CommandComplete {
    text: string;
  }
  /** A query with a custom class, such as those of `pg-cursor`. */
  export interface Submittable {
    /** The driver replaces the callback by one with a time limit. */
    callback: (error: Error | null) => void;
    submit(connection: Connection): void;
    handleRowDescription(message: RowDescription): void;
    handleDataRow(message: DataRow): void;
    handleCommandComplete(message: CommandComplete): void;
    handleReadyForQuery(): void;
    handleError(error: Error): void;
  }
  export interface PoolClient extends Client {
    /** With `true` the connection is closed. */
    release(destroy?: boolean): void;
  }
  export class Pool {
    constructor(config: PoolConfig);
    connect(): Promise<PoolClient>;
    on(event: "error", fn: (error: Error) => void): void;
    on(event: "connect", fn: (client: PoolClient) => void): void;
    end(): Promise<void>;
  }
  /** An error that the server reported. */
  export class DatabaseError extends Error {
    /** SQLSTATE. */
    code?: string;
    /** Advice about what to do. */
    hint?: string;
  }
}
