/** Reads `/readyz`, and checks whether it tells the truth. */
import { hasLeases, QUEUE_NAMES } from "../../../src/jobs/queues.ts";
import type { Random } from "../../support/random.ts";
import type { SimulatedProcess } from "../scheduler.ts";
import type { Actor, Scene } from "./actor.ts";
import type { Reply } from "./answers.ts";
import { hold } from "./broken_rule.ts";
import type { Silence } from "./caller.ts";
import { checkSteps } from "./repeated_sales.ts";
import { NO_WRITES } from "./trouble.ts";

/** After this long without a change, due work counts as stuck. */
const STILL_MS = 75_000;

/** After this long without a fault, each lease has been renewed. */
const CALM_MS = 60_000;
/** `/readyz` reports that within a second or two. */
const NOTICED_MS = 5_000;

/** The state of a queue according to its rows. */
interface Look {
  /** Changes with every change of the rows. */
  state: string;
  /** Rows that may be processed now. */
  due: number;
}

const QUEUES = {
  images: {
    role: "images",
    sql: `SELECT COUNT(*) AS n, COALESCE(SUM(attempts), 0) AS moves,
        COUNT(lease_id) AS leased,
        COALESCE(SUM(due_at <= ? AND sellers.status = 'active'), 0) AS due
      FROM images JOIN sellers ON sellers.seller_no = images.seller_no
      WHERE state = 'pending'`,
  },
  deliveries: {
    role: "webhooks",
    sql: `SELECT COUNT(*) AS n, COALESCE(SUM(attempts), 0) AS moves,
        COUNT(lease_id) AS leased,
        COALESCE(SUM(due_at <= ? AND sellers.status = 'active'), 0) AS due
      FROM deliveries
      JOIN sellers ON sellers.seller_no = deliveries.seller_no
      WHERE settled_at IS NULL`,
  },
} as const;

export class Watch implements Actor {
  readonly #scene: Scene;
  readonly #process: SimulatedProcess;
  readonly #roles: readonly string[];
  /** Since when each queue has been stuck although `/readyz` is 200. */
  readonly #still = new Map<string, { state: string; since: number }>();
  #lookedAt = 0;

  constructor(
    scene: Scene,
    process: SimulatedProcess,
    roles: readonly string[],
  ) {
    this.#scene = scene;
    this.#process = process;
    this.#roles = roles;
  }

  async do(_kind: "look", random: Random): Promise<void> {
    const { caller, stage, trouble } = this.#scene;
    const call = { method: "GET", path: "/readyz", key: null };
    const begun = stage.scheduler.time;
    const wasCalm = !trouble.anySince(this.#lookedAt);
    this.#lookedAt = begun;
    const reply = this.#process.running
      ? await caller.at(this.#process, "watch", call, random)
      : "unsent";
    this.#checkOutage(reply);
    this.#checkLeases();
    checkSteps(this.#scene);
    const isReady = typeof reply !== "string" && reply.status === 200;
    for (const [name, { role, sql }] of Object.entries(QUEUES)) {
      const isOurs = isReady && this.#roles.includes(role);
      const look = isOurs ? this.#look(sql) : null;
      if (look === null || look.due === 0 || !wasCalm) {
        this.#still.delete(name);
        continue;
      }
      const former = this.#still.get(name);
      if (former === undefined || former.state !== look.state) {
        this.#still.set(name, { state: look.state, since: begun });
        continue;
      }
      hold(
        begun - former.since < STILL_MS,
        "ready",
        `/readyz is 200 beside ${name} that are due and do not move`,
        look,
      );
    }
  }

  /** The leases of a running process do not end. */
  #checkLeases(): void {
    const { stage, trouble } = this.#scene;
    if (trouble.anySince(stage.scheduler.time - CALM_MS)) return;
    const ended = QUEUE_NAMES.filter(hasLeases).flatMap((table) =>
      stage.rows(
        `SELECT '${table}' AS queue, id, lease_until FROM ${table}
         WHERE lease_until < ?`,
        stage.now(),
      )
    );
    hold(ended.length === 0, "empty", "a lease is renewed in time", ended);
  }

  /** The service is not ready while nothing can be written. */
  #checkOutage(reply: Reply | Silence): void {
    const ms = this.#scene.trouble.lasts(NO_WRITES);
    if (typeof reply === "string" || ms < NOTICED_MS) return;
    hold(
      reply.status === 503,
      "ready",
      `/readyz is 503 when nothing could be written for ${ms} ms`,
      reply.text,
    );
  }

  #look(sql: string): Look {
    const { stage } = this.#scene;
    // Due for some time, because work that has just become due may be about to
    // begin.
    const [row] = stage.rows<Record<string, number>>(sql, stage.now() - 10_000);
    return { state: JSON.stringify(row), due: row.due };
  }
}
