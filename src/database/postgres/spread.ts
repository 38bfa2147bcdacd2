/**
 * A database whose sellers are spread over several servers (`citus.ts`). Calls
 * for one seller go straight to the server that has the seller's rows, on
 * separate connections for each server, so a server that does not answer delays
 * no other seller. All other calls use one of the servers as the entry to the
 * cluster.
 *
 * The known server of a seller may be outdated. Every server finds the rows on
 * any server, so an outdated place only costs time.
 *
 * Wake-ups, and the locks of an `order` without a seller, need one server for
 * all processes: the first reachable one, in a fixed order.
 */
import {
  type Db,
  DbError,
  type ReadOptions,
  type ReadWrite,
  type Spread,
  type Sql,
  type Tx,
  type WakeUps,
} from "../db.ts";
import {
  type EngineReadOptions,
  type EngineWriteOptions,
  ofSeller,
} from "../of_seller.ts";
import type { InUse } from "../../lib/holders.ts";
import { retryAfterTopologyChange } from "./topology_retry.ts";
import type { Nodes } from "./nodes.ts";

export class SpreadDb implements Db {
  readonly #nodes: Nodes;
  readonly wakeUps: WakeUps & { readonly unsent: number };

  constructor(nodes: Nodes) {
    this.#nodes = nodes;
    this.wakeUps = new NodeWakeUps(nodes);
  }

  of(sellerNo: number): ReadWrite {
    return ofSeller(this, sellerNo);
  }

  read<T>(
    fn: (sql: Sql) => Promise<T>,
    { seller = null, ...options }: EngineReadOptions = {},
  ): Promise<T> {
    return retryAfterTopologyChange(this.#nodes, async () => {
      const node = seller === null ? null : await this.#nodes.find(seller);
      return node === null
        ? await this.#readAll(fn, options)
        : await node.db.read(fn, options);
    });
  }

  /** Reads rows that may be on all servers. */
  async #readAll<T>(
    fn: (sql: Sql) => Promise<T>,
    options: ReadOptions,
  ): Promise<T> {
    const { version, entry } = this.#nodes;
    let hasHorizon = false;
    const reach = () => this.#nodes.reach(() => void (hasHorizon = true));
    const value = await entry.read(fn, { ...options, reach });
    // A server that was added during the read is not part of the horizon.
    if (hasHorizon && !await this.#nodes.isStill(version)) {
      throw new DbError("other", "Shards have moved.");
    }
    return value;
  }

  write<T>(
    fn: (tx: Tx) => Promise<T>,
    { seller = null, ...options }: EngineWriteOptions = {},
  ): Promise<T> {
    return retryAfterTopologyChange(this.#nodes, async () => {
      const { entry, wakeUpNode } = this.#nodes;
      const node = seller === null ? null : await this.#nodes.find(seller);
      if (node !== null) {
        const reach = () => node;
        return await node.db.write(fn, { ...options, seller, reach });
      }
      const db = options.order === undefined ? entry : wakeUpNode.db;
      const reach = () => this.#nodes.reach();
      return await db.write(fn, { ...options, reach });
    });
  }

  get spread(): Spread {
    return this.#nodes;
  }

  async sizes(): Promise<Record<string, number>> {
    const all = await Promise.all(
      this.#nodes.prompt.map(({ db }) => db.sizes()),
    );
    return {
      database: all.reduce((sum, { database }) => sum + database, 0),
    };
  }

  backup(file: string): Promise<void> {
    return this.#nodes.entry.backup(file);
  }

  shortenLockWaits(): void {
    for (const db of this.#nodes.dbs) db.shortenLockWaits();
  }

  inUse(): InUse {
    const sum: Record<string, number> = {};
    for (const db of this.#nodes.dbs) {
      for (const [name, n] of Object.entries(db.inUse())) {
        sum[name] = (sum[name] ?? 0) + n;
      }
    }
    return { ...sum, wakeUps: this.wakeUps.unsent };
  }

  oldestWaitMs(): number {
    return this.#nodes.dbs
      .reduce((most, db) => Math.max(most, db.oldestWaitMs?.() ?? 0), 0);
  }

  close(): Promise<void> {
    return this.#nodes.close();
  }
}

/** Wake-ups, through the server that all processes use for wake-ups. */
class NodeWakeUps implements WakeUps {
  readonly #nodes: Nodes;

  constructor(nodes: Nodes) {
    this.#nodes = nodes;
  }

  get unsent(): number {
    return this.#nodes.dbs
      .reduce((sum, db) => sum + (db.inUse().wakeUps ?? 0), 0);
  }

  send(topic: string, key: string): void {
    this.#nodes.wakeUpNode.db.wakeUps?.send(topic, key);
  }

  /**
   * Listens on the server for wake-ups, and later on each server that replaces
   * it: other processes may not know yet that it changed.
   */
  listen(heard: Parameters<WakeUps["listen"]>[0]): void {
    const listening = new Set<Db>();
    this.#nodes.onWakeUpNode(({ db }) => {
      if (listening.has(db)) return;
      listening.add(db);
      db.wakeUps?.listen(heard);
    });
  }
}
