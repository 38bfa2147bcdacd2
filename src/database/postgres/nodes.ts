/**
 * The servers of a cluster: which of them answer, and which sellers each has.
 *
 * A server that does not answer at once is silent: statements over all sellers
 * continue without it, and connections that may wait for it are abandoned. A
 * server is unreachable as soon as it refuses a connection or leaves two probes
 * unanswered; from then on its own sellers do not wait for it either, until it
 * answers again.
 */
import pg from "pg";
import { type Deps, systemClock } from "../../deps.ts";
import {
  type ChangeHorizon,
  type Db,
  DbError,
  type DbServer,
  type ReadWrite,
  type Sql,
  type Tx,
} from "../db.ts";
import type { EngineReadOptions, EngineWriteOptions } from "../of_seller.ts";
import { pause } from "../../lib/waits.ts";
import { yieldToIo } from "../../lib/yield_to_io.ts";
import { retryAfterTopologyChange } from "./topology_retry.ts";
import {
  CLOCK,
  IN_PROGRESS,
  LOCAL_NUMBERS,
  type Node,
  NODES,
  SELLERS_PLACED,
  SHARD_COUNT,
  VERSION,
} from "./citus.ts";
import type { Reaching, SellersInReach } from "./queries.ts";
import type { Server, Servers } from "./servers.ts";

/** How often each server is asked whether it answers. */
const PROBE_MS = 500;
/** A server that answers later than this is silent. */
const PROMPT_MS = 400;
/**
 * Connections are abandoned because of a silent server at most this often
 * within `ABANDON_WINDOW_MS`; otherwise a slow cluster would reconnect all the
 * time.
 */
const ABANDON_LIMIT = 3;
const ABANDON_WINDOW_MS = 10_000;
const ANSWER_MS = 1_000;
const CONNECT_MS = 1_500;
/**
 * How often the service looks for sellers or shards that were added or moved.
 */
const REFRESH_MS = 2_000;
/**
 * The pause between checks whether shards have moved: servers learn of a move
 * one after the other.
 */
const SETTLE_MS = 100;
const SETTLE_CHECKS = 5;

/** A database on one of several servers. */
export interface ServerDb extends Db {
  read<T>(
    fn: (sql: Sql) => Promise<T>,
    options?: EngineReadOptions & Reaching,
  ): Promise<T>;
  write<T>(
    fn: (tx: Tx) => Promise<T>,
    options?: EngineWriteOptions & Reaching,
  ): Promise<T>;
}

type State = "prompt" | "silent" | "away";

/** A server with its own connections. */
export interface PlacedNode extends Node, SellersInReach, DbServer {
  /** The names of all unreachable servers. */
  away: readonly string[];
  db: ServerDb;
  state: State;
  /** Its element of `reachable`, created once. */
  access?: ReadWrite;
}

/** A database on one server, whose connections can be abandoned. */
export interface Opened {
  db: ServerDb;
  servers: Servers;
}

interface KnownNode extends PlacedNode {
  /** Whether the server is reachable. */
  isUp: boolean;
  servers: Servers;
  numbers: string;
  probe: Probe;
  cancel: () => void;
}

export interface NodesOptions {
  /** The server to connect to. */
  server: Server;
  /** Connect to a random server of the cluster instead. */
  isRandom: boolean;
  /** Opens the database on a server. */
  open: (server: Server) => Opened;
  deps: Deps;
}

interface Placement {
  version: string;
  places: string;
  nodes: Node[];
  sellers: { n: number; id: number }[];
  localNumbers: { n: number; id: number }[];
  shards: number;
}

export class Nodes {
  readonly #options: NodesOptions;
  #nodes: KnownNode[] = [];
  #nodeOf: ReadonlyMap<number, KnownNode> = new Map();
  #entry: Opened;
  #entered: KnownNode | null = null;
  #wakeUpNode: KnownNode | null = null;
  readonly #onWakeUpNode: ((node: PlacedNode) => void)[] = [];
  #refreshing: Promise<void> | null = null;
  #cancel = () => {};
  #isClosed = false;
  version = "";
  /** See `SellersInReach`. */
  #places = "";
  shards = 0;
  /** See `SellersInReach`. */
  #numbers: string | null = null;
  #missing: readonly string[] = [];
  /** See `SellersInReach`. */
  #away: readonly string[] = [];
  /** Changes whenever the set of servers that answer changes. */
  reachabilityVersion = 0;
  /** Monotonic times at which connections were abandoned. */
  #abandonedAt: number[] = [];

  private constructor(options: NodesOptions) {
    this.#options = options;
    this.#entry = options.open(options.server);
  }

  static async open(options: NodesOptions): Promise<Nodes> {
    const nodes = new Nodes(options);
    await nodes.#refresh();
    nodes.#refreshLater();
    options.deps.log.info("database_spread", {
      servers: nodes.servers.length,
      shards: nodes.shards,
    });
    return nodes;
  }

  /** The servers that have, or may get, rows of sellers. */
  get servers(): readonly PlacedNode[] {
    return this.#nodes.filter(({ holds }) => holds);
  }

  /** Those of `servers` that answer promptly. */
  get prompt(): readonly PlacedNode[] {
    return this.servers.filter(isPrompt);
  }

  /** The database for work that belongs to no server. */
  get entry(): ServerDb {
    return this.#entry.db;
  }

  get wakeUpNode(): PlacedNode {
    return this.#wakeUpNode!;
  }

  /** All open databases. */
  get dbs(): Db[] {
    return [this.#entry.db, ...this.#nodes.map(({ db }) => db)];
  }

  /**
   * The sellers of a transaction over several sellers that begins now.
   * `onHorizon` is called if the transaction reads the horizon.
   */
  reach(onHorizon = () => {}): SellersInReach {
    return {
      numbers: this.#numbers,
      localSellerNo: (this.prompt[0] ?? this.servers[0])?.localSellerNo ?? 0,
      missing: this.#missing,
      away: this.#away,
      places: this.#places,
      horizon: () => {
        onHorizon();
        return this.#horizon();
      },
    };
  }

  /**
   * The horizon of all reachable servers. A later read sees all changes below
   * it.
   */
  async #horizon(): Promise<ChangeHorizon> {
    const { servers, prompt } = this;
    if (prompt.length === 0) throw new DbError("away", "All servers are away.");
    const horizons = await Promise.all(prompt.map(({ db }) => horizonOf(db)));
    return {
      below: horizons.reduce(
        (least, { below }) => Math.min(least, below),
        Infinity,
      ),
      next: horizons.reduce((most, { next }) => Math.max(most, next), 0),
      missing: servers.filter((node) => !prompt.includes(node))
        .map(({ id }) => id),
    };
  }

  /**
   * Calls `fn` with the server that carries wake-ups, now and whenever it
   * changes.
   */
  onWakeUpNode(fn: (node: PlacedNode) => void): void {
    this.#onWakeUpNode.push(fn);
    fn(this.wakeUpNode);
  }

  reachable(): readonly ReadWrite[] {
    return this.prompt.map((node) => this.#accessTo(node));
  }

  serverOf(sellerNo: number): ReadWrite | null {
    const node = this.known(sellerNo);
    return node === null ? null : this.#accessTo(node);
  }

  #accessTo(node: PlacedNode): ReadWrite {
    const reach = () => node;
    return node.access ??= {
      read: (fn, options) =>
        retryAfterTopologyChange(
          this,
          () => node.db.read(fn, { ...options, reach }),
        ),
      write: (fn, options) =>
        retryAfterTopologyChange(
          this,
          () => node.db.write(fn, { ...options, reach }),
        ),
    };
  }

  /** The server of a seller, if it is known. */
  known(sellerNo: number): PlacedNode | null {
    return this.#nodeOf.get(sellerNo) ?? null;
  }

  isAway(sellerNo: number): boolean {
    const node = this.known(sellerNo);
    return node !== null && !isPrompt(node);
  }

  /** The server of a seller; reads the current servers if it is unknown. */
  async locate(sellerNo: number): Promise<PlacedNode | null> {
    if (!this.#nodeOf.has(sellerNo)) await this.#refreshOnce();
    return this.known(sellerNo);
  }

  /** Like `locate`; throws a `DbError` if the server is unreachable. */
  async find(sellerNo: number): Promise<PlacedNode | null> {
    const node = await this.locate(sellerNo);
    if (node === null || node.isUp) return node;
    throw new DbError("away", `the server ${node.name} is away`);
  }

  /**
   * Whether servers, shards and sellers are the same as in this version; if
   * not, reads the current ones.
   */
  async isStill(version: string): Promise<boolean> {
    if (version === await this.#readVersion()) return true;
    await this.#refreshOnce();
    return false;
  }

  /**
   * Whether servers or shards differ from this version, so that a statement
   * that just failed may have met the change. Uses real time, like all checks
   * of whether servers answer.
   */
  async hasChangedSince(version: string): Promise<boolean> {
    for (let checks = 0; checks < SETTLE_CHECKS; checks++) {
      if (!await this.isStill(version)) return true;
      await pause(systemClock, SETTLE_MS);
    }
    return false;
  }

  #refreshLater(): void {
    if (this.#isClosed) return;
    const { clock, log } = this.#options.deps;
    this.#cancel = clock.after(REFRESH_MS, () => {
      this.#refreshOnce()
        .catch((error) =>
          log.debug("database_servers_unread", { error: String(error) })
        )
        .finally(() => this.#refreshLater());
    });
  }

  #refreshOnce(): Promise<void> {
    return this.#refreshing ??= this.#refresh()
      .finally(() => this.#refreshing = null);
  }

  async #refresh(): Promise<void> {
    if (this.version === await this.#readVersion()) return;
    const placement = await this.#entry.db.read(async (sql): Promise<
      Placement
    > => ({
      ...(await sql.get<{ version: string; places: string }>(VERSION))!,
      nodes: await sql.all(NODES),
      sellers: await sql.all(SELLERS_PLACED),
      localNumbers: await sql.all(LOCAL_NUMBERS),
      shards: (await sql.get<{ n: number }>(SHARD_COUNT))!.n,
    }));
    if (!this.#isClosed) this.#place(placement);
  }

  async #readVersion(): Promise<string> {
    return (await singleValue<{ version: string }>(this.#entry.db, VERSION))
      .version;
  }

  #place(placement: Placement): void {
    const { version, places, nodes, sellers, localNumbers, shards } = placement;
    const former = this.#nodes;
    this.#nodes = nodes.map((node) => {
      const own = sellers.filter(({ id }) => id === node.id).map(({ n }) => n);
      const local = localNumbers.filter(({ id }) => id === node.id)
        .map(({ n }) => n);
      const placed = {
        holds: Boolean(node.holds),
        sellers: own.length,
        numbers: `{${[...own, ...local].join(",")}}`,
        localSellerNo: local[0] ?? 0,
        places,
      };
      const same = former.find(({ id, host, port }) =>
        id === node.id && host === node.host && port === node.port
      );
      return same === undefined
        ? this.#add(node, placed)
        : Object.assign(same, placed);
    });
    for (const gone of former.filter((one) => !this.#nodes.includes(one))) {
      void this.#end(gone);
    }
    const byId = new Map(this.#nodes.map((node) => [node.id, node]));
    this.#nodeOf = new Map(
      [...sellers, ...localNumbers].map(({ n, id }) => [n, byId.get(id)!]),
    );
    this.version = version;
    this.#places = places;
    this.shards = shards;
    if (this.#entered === null) this.#enterFirst();
    this.#updateReach();
  }

  #enterFirst(): void {
    const { server: { settings: { host, port } }, isRandom, deps } =
      this.#options;
    const [random] = deps.ids.random(1);
    const entered = isRandom
      ? this.#nodes[random % this.#nodes.length]
      : this.#nodes.find((one) => one.host === host && one.port === port);
    if (isRandom) this.#enter(entered!);
    else this.#entered = entered ?? this.#nodes[0];
  }

  #enter(node: KnownNode): void {
    const former = this.#entry;
    this.#entered = node;
    this.#entry = this.#options.open(this.#serverOf(node));
    former.servers.isAway = true;
    former.servers.abandon();
    void former.db.close();
  }

  #add(
    node: Node,
    placed: Pick<
      KnownNode,
      "holds" | "sellers" | "numbers" | "localSellerNo" | "places"
    >,
  ): KnownNode {
    const added: KnownNode = {
      ...node,
      ...placed,
      missing: [],
      away: [],
      name: `${node.host}:${node.port}`,
      ...this.#options.open(this.#serverOf(node)),
      state: "prompt",
      isUp: true,
      probe: new Probe(this.#serverOf(node)),
      cancel: () => {},
    };
    this.#probeLater(added);
    return added;
  }

  #serverOf({ host, port }: Node): Server {
    return { settings: { ...this.#options.server.settings, host, port } };
  }

  #probeLater(node: KnownNode): void {
    const { clock } = this.#options.deps;
    node.cancel = clock.after(PROBE_MS, async () => {
      const update = (state: State) => {
        const isGone = this.#isClosed || !this.#nodes.includes(node);
        if (!isGone && state !== node.state) this.#setState(node, state);
        return !isGone;
      };
      let hasAnswered = false;
      const cancel = systemClock.after(PROMPT_MS, async () => {
        // The answer may have arrived while this process was busy.
        await yieldToIo();
        if (!hasAnswered && node.isUp) update("silent");
      });
      const answers = await node.probe.answers();
      hasAnswered = true;
      cancel();
      if (update(answers ? "prompt" : "away")) this.#probeLater(node);
    });
  }

  /** Records that a server became unreachable, silent or reachable. */
  #setState(node: KnownNode, state: State): void {
    const { log } = this.#options.deps;
    node.state = state;
    const isUp = state !== "away";
    if (isUp !== node.isUp) {
      log.warn(isUp ? "database_server_back" : "database_server_away", {
        server: node.name,
      });
    }
    node.isUp = isUp;
    node.servers.isAway = !isUp;
    if (!isUp) node.servers.abandon();
    // Connections through another server may wait for it, too.
    if (this.#entered !== node && this.#mayAbandon(state)) {
      this.#entry.servers.abandon();
    }
    this.#updateReach();
  }

  /**
   * Whether to abandon connections that may wait for a server in this state.
   */
  #mayAbandon(state: State): boolean {
    if (state !== "silent") return state === "away";
    const now = systemClock.monotonic();
    this.#abandonedAt = this.#abandonedAt.filter((at) =>
      now - at < ABANDON_WINDOW_MS
    );
    if (this.#abandonedAt.length >= ABANDON_LIMIT) return false;
    this.#abandonedAt.push(now);
    return true;
  }

  /** Updates everything that depends on which servers answer. */
  #updateReach(): void {
    const holders = this.#nodes.filter(({ holds }) => holds);
    const silent = holders.filter((node) => !isPrompt(node));
    this.reachabilityVersion++;
    this.#missing = silent.map(({ name }) => name);
    this.#away = this.#nodes.filter(({ isUp }) => !isUp)
      .map(({ name }) => name);
    for (const node of this.#nodes) node.away = this.#away;
    this.#numbers = silent.length === 0 ? null : `{${
      holders.filter(isPrompt)
        .map(({ numbers }) => numbers.slice(1, -1))
        .filter((text) => text !== "")
        .join(",")
    }}`;
    const prompt = this.#nodes.filter(isPrompt);
    const carrier = prompt[0] ?? this.#wakeUpNode ?? this.#nodes[0];
    if (carrier !== this.#wakeUpNode) {
      this.#wakeUpNode = carrier;
      for (const fn of this.#onWakeUpNode) fn(carrier);
    }
    const { state } = this.#entered!;
    if (prompt.length > 0 && this.#mayAbandon(state)) {
      this.#enter(prompt[prompt.length - 1]);
    }
  }

  async #end(node: KnownNode): Promise<void> {
    node.cancel();
    node.probe.close();
    await node.db.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await Promise.all([
      this.#entry.db.close(),
      ...this.#nodes.map((node) => this.#end(node)),
    ]);
  }
}

/** Asks one server whether it answers, on a connection of its own. */
class Probe {
  readonly #settings: pg.ClientConfig;
  #client: pg.Client | null = null;

  constructor({ settings }: Server) {
    this.#settings = {
      ...settings,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
    };
  }

  /** Uses a new connection if the current one does not answer. */
  async answers(): Promise<boolean> {
    return (this.#client !== null && await this.#ask(this.#client)) ||
      await this.#ask(null);
  }

  async #ask(former: pg.Client | null): Promise<boolean> {
    const client = this.#client = former ?? new pg.Client(this.#settings);
    try {
      if (former === null) {
        client.on("error", () => {});
        await client.connect();
      }
      await client.query("SELECT 1");
      return true;
    } catch {
      this.close();
      return false;
    }
  }

  close(): void {
    const client = this.#client;
    this.#client = null;
    client?.connection.stream.destroy();
  }
}

/** The only row of a statement. */
async function singleValue<T>(db: Db, text: string): Promise<T> {
  const row = await db.read((sql) => sql.get<T>(text), { single: true });
  return row!;
}

/** The horizon of one server. */
async function horizonOf(db: Db): Promise<{ below: number; next: number }> {
  const { now } = await singleValue<{ now: number }>(db, CLOCK);
  const { since } = await singleValue<{ since: number | null }>(
    db,
    IN_PROGRESS,
  );
  const isQuiet = since === null || since > now;
  return { below: isQuiet ? now : since, next: isQuiet ? now : now + 1 };
}

function isPrompt({ state }: PlacedNode): boolean {
  return state === "prompt";
}
