/**
 * The queues, one row each. The row determines a queue's signal, metrics,
 * counts, health check and the correction of its times. `roles.ts` has the
 * roles that work on the queues.
 */
import type { Role } from "../config.ts";

interface QueueRow {
  /**
   * The background role that does the jobs; also the name of a health check.
   */
  role: string;
  /** The role of the processes that maintain the queue. */
  process: Role;
  /** The name of one job in metrics and in the log. */
  kind: string;
  /** What the jobs are, for the API reference. */
  about: string;
  /** The number of waiting jobs in the example of the status. */
  example: number;
  /** Whether a job that has been due for long counts as late. */
  showsAge: boolean;
  /**
   * For a queue without leases: the table whose rows are its jobs, and the
   * column with their due times.
   */
  rows?: QueueRows;
}

/** A table, and its column with the due times of a queue's jobs. */
export interface QueueRows {
  table: string;
  due: string;
}

/**
 * The queues by name. A queue with leases has the name of the table with its
 * leases.
 */
export const QUEUES = {
  images: {
    role: "images",
    process: "images",
    kind: "image",
    about: "to be downloaded; counts stop at 100,000",
    example: 40,
    showsAge: true,
  },
  deliveries: {
    role: "webhooks",
    process: "webhooks",
    kind: "delivery",
    about: "to be sent, including those in progress",
    example: 2,
    showsAge: true,
  },
  imports: {
    role: "imports",
    process: "api",
    kind: "import",
    about: "being checked or stored, or waiting for it",
    example: 1,
    // An import waits for the seller's other imports, so a long wait is normal.
    showsAge: false,
  },
  notices: {
    role: "notices",
    process: "api",
    kind: "notice",
    about: "to be sent to sellers or the operator",
    example: 0,
    showsAge: true,
  },
  sales: {
    role: "sales",
    process: "api",
    kind: "sale",
    about: "planned beginnings and ends of sales",
    example: 30,
    showsAge: true,
    rows: { table: "products", due: "sale_at" },
  },
} as const satisfies Record<string, QueueRow>;

/** A queue and its signal. */
export type QueueName = keyof typeof QUEUES;

type QueueWithoutLeases = {
  [Q in QueueName]: typeof QUEUES[Q] extends { rows: QueueRows } ? Q : never;
}[QueueName];

/** A queue with a table of leases, of the same name. */
export type LeasedQueueName = Exclude<QueueName, QueueWithoutLeases>;

export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];

/** Whether the jobs of a queue are claimed under leases. */
export function hasLeases(name: QueueName): name is LeasedQueueName {
  return !("rows" in QUEUES[name]);
}

export function rowsOf(name: QueueName): QueueRows {
  const row: QueueRow = QUEUES[name];
  return row.rows ?? { table: name, due: "due_at" };
}
