/**
 * The queues, one row each. The row determines a queue's signal, metrics,
 * counts, health check and the correction of its times. `roles.ts` has the
 * roles that work on the queues.
 */
import type { Role } from "../config.ts";

interface QueueRow {
  /** The background role that works on it; also the name of its health check. */
  role: string;
  /** The role of the processes that maintain it. */
  process: Role;
  /** One of its jobs, in metrics and in the log. */
  kind: string;
  /** What its jobs are, for the API reference. */
  about: string;
  /** How many wait in the example of the status. */
  example: number;
  /** Whether a job that has been due for long counts as late. */
  showsAge: boolean;
}

/** By the name of its table. */
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
} as const satisfies Record<string, QueueRow>;

/** A queue, its table and its signal. */
export type QueueName = keyof typeof QUEUES;

export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];
