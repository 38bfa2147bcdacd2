/** How engines bind a database to a seller. */
import { heavyOwner } from "../lib/wait_list.ts";
import type { ReadOptions, ReadWrite, Sql, Tx, WriteOptions } from "./db.ts";

/** Options of a read, and the seller that it is bound to; null: not bound. */
export interface EngineReadOptions extends ReadOptions {
  seller?: number | null;
}

/** Options of a write, and the seller that it is bound to; null: not bound. */
export interface EngineWriteOptions extends WriteOptions {
  seller?: number | null;
  /**
   * The owner of the queue that the write waits in; see `WriteOptions.queue`.
   */
  owner?: string;
}

/** The calls of an engine, for any seller or none. */
export interface EngineCalls {
  read<T>(
    fn: (sql: Sql) => Promise<T>,
    options?: EngineReadOptions,
  ): Promise<T>;
  write<T>(
    fn: (tx: Tx) => Promise<T>,
    options?: EngineWriteOptions,
  ): Promise<T>;
}

/** `Db.of` of an engine. */
export function ofSeller(db: EngineCalls, seller: number): ReadWrite {
  return {
    read: (fn, options) => db.read(fn, { ...options, seller }),
    write: (fn, { queue, ...options } = {}) => {
      const own = heavyOwner({ no: seller });
      const owner = queue === undefined ? own : `${queue} of ${own}`;
      return db.write(fn, { ...options, seller, owner });
    },
  };
}
