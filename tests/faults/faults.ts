/** Faults, by the part that they affect. */
import { DbError, type DbErrorKind } from "../../src/database/db.ts";
import { lockDatabase } from "../support/locked_database.ts";
import { type Meddle, Problem } from "../support/s3_server.ts";
import type { Stage } from "./stage.ts";

export interface Fault {
  /** Begins the fault; the result ends it. */
  begin: (stage: Stage) => End | Promise<End>;
  /**
   * Milliseconds of the clock after which `/readyz` must be 503; null if the
   * service can still work, perhaps slowly.
   */
  unreadyMs: number | null;
  /** How much faster than real time the clock may run; 20 times by default. */
  speed?: number;
}

type End = () => void | Promise<void>;

/**
 * A write may wait for a lock, and an answer of `/readyz` is reused for a
 * while.
 */
const TOLD_MS = 4_000;
/** A faulty store is noticed by an image or by a probe. */
const PROBED_MS = 30_000;
/** A worker counts as dead when it has not answered several beats. */
const SILENCE_MS = 12_000;
/** A thread takes real time to start. */
const WORKER_SPEED = 8;
/** The time of a commit of a slow database, and of a PUT of a slow store. */
const SLOW_MS = 2_000;

export const DATABASE_FAULTS: Readonly<Record<string, Fault>> = {
  "database locked": {
    begin: ({ dataDir }) => lockDatabase(dataDir),
    unreadyMs: TOLD_MS,
  },
  "database read-only": commitsFail("readonly"),
  "disk full": commitsFail("full"),
  "database slow": {
    begin: (stage) => {
      stage.beforeCommit = () => sleep(stage, SLOW_MS);
      return () => {
        stage.beforeCommit = () => {};
      };
    },
    unreadyMs: null,
  },
};

export const STORE_FAULTS: Readonly<Record<string, Fault>> = {
  "image store full": storeFails(() => new Problem(507, "QuotaExceeded")),
  "image store away": storeFails(() => new Problem(503, "ServiceUnavailable")),
  "image store refusing": storeFails(() => new Problem(403, "AccessDenied")),
  "image store slow": {
    begin: (stage) =>
      meddle(stage, async ({ method }) => {
        if (method === "PUT") await sleep(stage, SLOW_MS);
        return null;
      }),
    unreadyMs: null,
  },
};

export const WORKER_FAULTS: Readonly<Record<string, Fault>> = {
  "worker dead": ailing("worker-dead"),
  "worker hung": ailing("worker-hung"),
  "worker out of memory": ailing("worker-out-of-memory"),
};

/** Faults of notices, on which nothing else depends. */
const NOTICE_FAULTS: Readonly<Record<string, Fault>> = {
  "mail server away": {
    begin: (stage) => {
      const { onRecipient } = stage.mailing;
      stage.mailing.onRecipient = () => [421, "away on purpose"];
      stage.mail.cut();
      return () => {
        stage.mailing.onRecipient = onRecipient;
      };
    },
    unreadyMs: null,
  },
  "notices endpoint away": {
    begin: ({ operator }) => {
      const { answering } = operator;
      operator.answering = () => new Response(null, { status: 503 });
      return () => {
        operator.answering = answering;
      };
    },
    unreadyMs: null,
  },
};

export const FAULTS = {
  ...DATABASE_FAULTS,
  ...STORE_FAULTS,
  ...WORKER_FAULTS,
  ...NOTICE_FAULTS,
};

function commitsFail(kind: DbErrorKind): Fault {
  return {
    begin: (stage) => {
      stage.beforeCommit = () => {
        throw new DbError(kind, `${kind} on purpose`);
      };
      return () => {
        stage.beforeCommit = () => {};
      };
    },
    unreadyMs: TOLD_MS,
  };
}

function storeFails(problem: () => Problem): Fault {
  return {
    begin: (stage) => meddle(stage, ({ method }) => problem().response(method)),
    unreadyMs: PROBED_MS,
  };
}

function meddle({ store }: Stage, how: Meddle): End {
  store.meddle = how;
  return () => {
    store.meddle = () => null;
  };
}

/** See `faulty_worker.ts`. */
function ailing(name: string): Fault {
  return {
    begin: (stage) => {
      const flag = `${stage.dataDir}/${name}`;
      Deno.writeTextFileSync(flag, "");
      return () => Deno.removeSync(flag);
    },
    unreadyMs: SILENCE_MS,
    speed: WORKER_SPEED,
  };
}

function sleep({ clock }: Stage, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
