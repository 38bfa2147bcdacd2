/**
 * A database whose sellers are spread over several servers (`citus.ts`). What
 * belongs to one seller goes straight to the server that has its rows, on
 * connections of its own: so it stays there, and a server that does not answer
 * holds up nothing else. Everything else enters through one of the servers.
 *
 * Which server has which seller may have changed a moment ago. Every server
 * finds the rows wherever they are, so an old answer costs time, nothing else.
 *
 * What has to meet, wake-ups and the locks of an `order` without a seller, meets
 * on the first server in a fixed order that can be reached.
 */
import {
  type Change,
  type ChangeHorizon,
  type Db,
  DbError,
  type EngineQuery,
  type Param,
  type Part,
  type Query,
  type ReadOptions,
  type Spread,
  type Sql,
  type Tx,
  type WakeUps,
  type WriteOptions,
} from "../db.ts";
import type { Held } from "../../lib/holders.ts";
import { isLost, PostgresError } from "./connection.ts";
import { SELLERS, toStatement } from "./dialect.ts";
import { CLOCK, IN_PROGRESS, TAKE_CHANGE } from "./citus.ts";
import type { Nodes, PlacedNode, SellersInReach } from "./nodes.ts";

/** How often a call is made that servers or shards change beneath. */
const TRIES = 3;

export class SpreadDb implements Db {
  readonly #nodes: Nodes;
  readonly wakeUps: WakeUps & { readonly unsent: number };

  constructor(nodes: Nodes) {
    this.#nodes = nodes;
    this.wakeUps = new MeetingWakeUps(nodes);
  }

  read<T>(
    fn: (sql: Sql) => Promise<T>,
    { seller = null, ...options }: ReadOptions = {},
  ): Promise<T> {
    return this.#again(async () => {
      const node = seller === null ? null : await this.#nodes.find(seller);
      return node === null
        ? await this.#readAll(fn, options)
        : await node.db.read(fn, options);
    });
  }

  /** What is read may be on all servers. */
  async #readAll<T>(
    fn: (sql: Sql) => Promise<T>,
    options: ReadOptions,
  ): Promise<T> {
    const { version } = this.#nodes;
    let sql: SpreadSql | null = null;
    const value = await this.#nodes.entry.read((inner) => {
      sql = new SpreadSql(inner, this.#nodes);
      return fn(sql);
    }, options);
    // A server that was added meanwhile has no part in the horizon.
    if (sql!.hasHorizon && !await this.#nodes.isStill(version)) {
      throw new DbError("other", "Shards have moved.");
    }
    return value;
  }

  write<T>(
    fn: (tx: Tx) => Promise<T>,
    { seller = null, ...options }: WriteOptions = {},
  ): Promise<T> {
    return this.#again(async () => {
      const node = seller === null ? null : await this.#nodes.find(seller);
      if (node !== null) return await writeOn(node, fn, seller, options);
      const db = options.order === undefined
        ? this.#nodes.entry
        : this.#nodes.meeting.db;
      return await db.write(
        (tx) => fn(new SpreadTx(tx, this.#nodes)),
        options,
      );
    });
  }

  /**
   * Makes a call again that servers or shards changed beneath: the server where
   * it entered is left for another one, or a statement failed whose rows moved.
   * Such errors have no code in common, so any that nothing else explains is
   * taken for one, if anything did move. Nothing of a failed call was committed.
   */
  async #again<T>(call: () => Promise<T>): Promise<T> {
    for (let tries = 1;; tries++) {
      const { version, entry } = this.#nodes;
      try {
        return await call();
      } catch (error) {
        const isLeft = isLost(error) && entry !== this.#nodes.entry;
        const hasMoved = !isLeft && isUnexplained(error) &&
          await this.#nodes.hasChangedSince(version);
        if (!isLeft && !hasMoved) throw error;
        if (tries < TRIES) continue;
        throw isLeft ? error : new DbError("busy", "Shards move.", error);
      }
    }
  }

  parts(): readonly Part[] {
    return this.#nodes.prompt.map(partOn);
  }

  partOf(sellerNo: number): Part {
    const node = this.#nodes.known(sellerNo);
    return node === null ? this : partOn(node);
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

  hurry(): void {
    for (const db of this.#nodes.dbs) db.hurry();
  }

  held(): Held {
    const sum: Record<string, number> = {};
    for (const db of this.#nodes.dbs) {
      for (const [name, n] of Object.entries(db.held())) {
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

/** Whether the statement may have failed because its rows moved. */
function isUnexplained(error: unknown): boolean {
  return error instanceof DbError && error.kind === "other" ||
    error instanceof PostgresError && error.again;
}

/** Writes what belongs to one seller, or with null to several of one server. */
function writeOn<T>(
  node: PlacedNode,
  fn: (tx: Tx) => Promise<T>,
  seller: number | null,
  { changes = false, ...options }: WriteOptions,
): Promise<T> {
  return node.db.write((inner) => {
    const tx = new SpreadTx(inner, node);
    // In the round trip of its first statement.
    if (changes && seller !== null) tx.takeChanges(1, seller).catch(() => {});
    return fn(tx);
  }, options);
}

function partOn(node: PlacedNode): Part {
  return node.part ??= {
    read: (fn, options) =>
      node.db.read((sql) => fn(new SpreadSql(sql, node)), options),
    write: (fn, options = {}) => writeOn(node, fn, null, options),
  };
}

class SpreadSql implements Sql {
  readonly isSpread = true;
  readonly #sql: Sql;
  readonly #nodes: Nodes | null;
  /** As they were when the read began. */
  readonly reach: SellersInReach;
  hasHorizon = false;

  constructor(sql: Sql, reach: Nodes | SellersInReach) {
    this.#sql = sql;
    this.#nodes = "holding" in reach ? reach : null;
    const { numbers, beside, missing } = reach;
    this.reach = { numbers, beside, missing };
  }

  get missing(): readonly string[] {
    return this.reach.missing;
  }

  /** The text of a query in a transaction of this kind. */
  protected textOf(query: EngineQuery): string {
    return query.postgresRead ?? query.postgres;
  }

  ofPart(column = "seller_no"): string {
    const { numbers } = this.reach;
    return numbers === null ? "" : `AND ${column} = ANY (${SELLERS}::bigint[])`;
  }

  /** A statement, with the sellers if it takes them. */
  protected reached(
    query: Query,
    params: readonly Param[],
  ): [string, readonly Param[]] {
    const text = typeof query === "string" ? query : this.textOf(query);
    const { takesSellers } = toStatement(text);
    return [text, takesSellers ? [...params, this.reach.numbers] : params];
  }

  all<T>(query: Query, params: readonly Param[] = []): Promise<T[]> {
    return this.#sql.all<T>(...this.reached(query, params));
  }

  get<T>(query: Query, params: readonly Param[] = []): Promise<T | undefined> {
    return this.#sql.get<T>(...this.reached(query, params));
  }

  /**
   * Of all servers that can be reached; what is read after it has all changes
   * below.
   */
  async changeHorizon(): Promise<ChangeHorizon> {
    if (this.#nodes === null) {
      throw new DbError("other", "A horizon of a part.");
    }
    this.hasHorizon = true;
    const { holding, prompt } = this.#nodes;
    if (prompt.length === 0) throw new DbError("away", "All servers are away.");
    const horizons = await Promise.all(prompt.map(({ db }) => horizonOf(db)));
    return {
      below: horizons.reduce(
        (least, { below }) => Math.min(least, below),
        Infinity,
      ),
      next: horizons.reduce((most, { next }) => Math.max(most, next), 0),
      missing: holding.filter((node) => !prompt.includes(node))
        .map(({ id }) => id),
    };
  }
}

/** The horizon of one server. */
async function horizonOf(db: Db): Promise<{ below: number; next: number }> {
  const { now } = await db.read(
    async (sql) => (await sql.get<{ now: number }>(CLOCK))!,
    { single: true },
  );
  const { since } = await db.read(
    async (sql) => (await sql.get<{ since: number | null }>(IN_PROGRESS))!,
    { single: true },
  );
  const isQuiet = since === null || since > now;
  return { below: isQuiet ? now : since, next: isQuiet ? now : now + 1 };
}

/** The statements of a write, of one seller or of several. */
class SpreadTx extends SpreadSql implements Tx {
  readonly #tx: Tx;
  readonly #changes = new Map<number, Promise<Change>>();
  readonly isOnlyWriter = false;

  constructor(tx: Tx, reach: Nodes | SellersInReach) {
    super(tx, reach);
    this.#tx = tx;
  }

  get beside(): number {
    return this.reach.beside;
  }

  protected override textOf(query: EngineQuery): string {
    return query.postgres;
  }

  run(query: Query, params: readonly Param[] = []): Promise<number> {
    return this.#tx.run(...this.reached(query, params));
  }

  returning<T>(query: Query, params: readonly Param[] = []): Promise<T[]> {
    return this.#tx.returning<T>(...this.reached(query, params));
  }

  runMany(query: Query, rows: readonly (readonly Param[])[]): Promise<void> {
    return this.#tx.runMany(query, rows);
  }

  lock(name: string): Promise<void> {
    return this.#tx.lock(name);
  }

  /**
   * All changes of a seller in a transaction have the same number. Not all of
   * several sellers: they may have moved apart.
   */
  takeChanges(_count: number, sellerNo: number): Promise<Change> {
    let change = this.#changes.get(sellerNo);
    if (change === undefined) {
      change = this.#takeChange(sellerNo);
      this.#changes.set(sellerNo, change);
    }
    return change;
  }

  async #takeChange(sellerNo: number): Promise<Change> {
    const taken = await this.#tx.get<{ number: number }>(TAKE_CHANGE, [
      sellerNo,
    ]);
    if (taken === undefined) throw new DbError("other", "No such seller.");
    const { number } = taken;
    return { number, at: Math.max(this.now(), Math.floor(number / 1_000)) };
  }

  now(): number {
    return this.#tx.now();
  }

  onCommit(fn: () => void): void {
    this.#tx.onCommit(fn);
  }
}

/** Wake-ups by way of the server where all processes meet. */
class MeetingWakeUps implements WakeUps {
  readonly #nodes: Nodes;

  constructor(nodes: Nodes) {
    this.#nodes = nodes;
  }

  get unsent(): number {
    return this.#nodes.dbs
      .reduce((sum, db) => sum + (db.held().wakeUps ?? 0), 0);
  }

  send(topic: string, key: string): void {
    this.#nodes.meeting.db.wakeUps?.send(topic, key);
  }

  /**
   * Also, from then on, on each server that becomes the one to meet on: others
   * may not have noticed yet that it is another one.
   */
  listen(heard: Parameters<WakeUps["listen"]>[0]): void {
    const listening = new Set<Db>();
    this.#nodes.onMeeting(({ db }) => {
      if (listening.has(db)) return;
      listening.add(db);
      db.wakeUps?.listen(heard);
    });
  }
}
