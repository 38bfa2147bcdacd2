/** How long an import waits for the role although slots are free. */
import { assertEquals } from "@std/assert";
import { type Db, DbError, type ReadWrite } from "../../../src/database/db.ts";
import { newSignals } from "../../../src/jobs/signals.ts";
import { beginImport, insertImport } from "../../../src/imports/import_rows.ts";
import { ImportRole } from "../../../src/imports/worker/role.ts";
import { ServiceError } from "../../../src/lib/errors.ts";
import { Metrics } from "../../../src/monitoring/metrics.ts";
import type { Services } from "../../../src/services.ts";
import { systemDeps } from "../../../src/deps.ts";
import { boot } from "../../support/app.ts";
import { TestClock, until } from "../../support/clock.ts";
import { gate } from "../../support/webhook_sink.ts";

/** A database whose writes wait until the gate is opened. */
function behind(db: Db, opened: Promise<void>): Db {
  const write: Db["write"] = async (run, options) => {
    await opened;
    return await db.write(run, options);
  };
  return Object.assign(Object.create(db), {
    read: db.read.bind(db),
    write,
  });
}

const SILENT = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  enabled: () => false,
};

/** An import that waits to be checked, and has no parts. */
async function addImport(db: Db, sellerNo: number) {
  const id = systemDeps("error").ids.uuid();
  await db.write(async (tx) => {
    await insertImport(tx, sellerNo, {
      id,
      state: "checking",
      acceptValid: false,
      dryRun: false,
      keepChanged: false,
      keyId: "",
      undoes: null,
      name: null,
      showsFormer: false,
    });
    await beginImport(tx, { sellerNo, importId: id }, {
      rootStart: 0,
      rootEnd: 0,
      parts: 0,
      products: 0,
      outside: [],
      problems: 0,
    });
  });
}

Deno.test("a due import left unclaimed despite free slots reports for how long", async () => {
  await using app = await boot({ config: { roles: ["webhooks"] } });
  const { db } = app.app;
  const deps = { ...systemDeps("error"), clock: new TestClock(Date.now()) };
  const { clock } = deps;
  const { opened, open } = gate();
  const role = new ImportRole({
    db: behind(db, opened),
    deps,
    signals: newSignals(),
    metrics: new Metrics("sqlite"),
  } as unknown as Services, { shared: false });
  role.start();
  clock.advance(60_000);
  assertEquals(role.oldestWaitMs(), 0, "nothing is due");

  await addImport(db, app.sellerNo);
  await until(() => {
    clock.advance(100);
    return role.oldestWaitMs() > 0;
  }, "a look that finds it");
  const waited = role.oldestWaitMs();
  clock.advance(5_000);
  assertEquals(role.oldestWaitMs(), waited + 5_000);

  open();
  await until(() => role.oldestWaitMs() === 0, "the claim");
  await role.stop();
});

/**
 * A database on several servers, some of which become unreachable when data of
 * these sellers are read.
 */
function losing(db: Db, sellers: ReadonlySet<number>): Db {
  const lost = new Set<number>();
  const of = (sellerNo: number): ReadWrite => {
    const own = db.of(sellerNo);
    const check = () => {
      if (lost.has(sellerNo)) throw new DbError("away", "broken on purpose");
    };
    return {
      read: async (run, options) => {
        if (sellers.has(sellerNo)) lost.add(sellerNo);
        check();
        return await own.read(run, options);
      },
      write: async (run, options) => {
        check();
        return await own.write(run, options);
      },
    };
  };
  const spread = { isAway: (no: number) => lost.has(no) };
  return Object.assign(Object.create(db), { of, spread });
}

Deno.test("imports on an unreachable server take no slot from others", async () => {
  await using app = await boot({ config: { roles: ["webhooks"] } });
  const { db } = app.app;
  const deps = { ...systemDeps("error"), clock: new TestClock(Date.now()) };
  const add = async (name: string) => {
    await app.addSeller(name);
    const row = await db.read((sql) =>
      sql.get<{ no: number }>("SELECT max(seller_no) AS no FROM sellers")
    );
    await addImport(db, row!.no);
    return row!.no;
  };
  const sellers = new Set<number>();
  for (let n = 0; n < 8; n++) sellers.add(await add(`seller-${n}`));
  const role = new ImportRole({
    db: losing(db, sellers),
    deps,
    signals: newSignals(),
    metrics: new Metrics("sqlite"),
  } as unknown as Services, { shared: false });
  role.start();
  await until(() => {
    deps.clock.advance(100);
    return role.inUse().in_flight === 8;
  }, "the claims");
  const other = await add("other");
  await until(async () => {
    deps.clock.advance(100);
    const row = await db.read((sql) =>
      sql.get(
        "SELECT 1 FROM imports WHERE seller_no = ? AND lease_id IS NOT NULL",
        [other],
      )
    );
    return row !== undefined;
  }, "the claim of the other's");
  await role.stop();
});

/** What ends the work on a part, and the import after six such failures. */
const FAILURES: readonly (readonly [Error, state: string, failures: number])[] =
  [
    [new DbError("away", "on purpose"), "checking", 0],
    [new DbError("full", "on purpose"), "checking", 0],
    [new ServiceError("unauthorized", "on purpose"), "checking", 0],
    [new ServiceError("forbidden", "on purpose"), "checking", 0],
    [new ServiceError("unavailable", "on purpose"), "checking", 0],
    [new ServiceError("not_found", "on purpose"), "failed", 0],
    [new Error("on purpose"), "failed", 4],
  ];

Deno.test("an import waits for the end of an outage, and fails by its own errors", async () => {
  for (const [error, state, failures] of FAILURES) {
    const clock = new TestClock();
    await using app = await boot({
      config: { roles: ["webhooks"] },
      deps: { clock },
    });
    const { db } = app.app;
    await addImport(db, app.sellerNo);
    let tries = 0;
    const of = (sellerNo: number): ReadWrite => {
      const { write } = db.of(sellerNo);
      const read = () => {
        tries++;
        return Promise.reject(error);
      };
      return { read, write };
    };
    const role = new ImportRole({
      db: Object.assign(Object.create(db), { of }),
      deps: { ...systemDeps("error"), clock, log: SILENT },
      signals: newSignals(),
      metrics: new Metrics("sqlite"),
    } as unknown as Services, { shared: false });
    role.start();
    const stateNow = () =>
      db.read((sql) => sql.get("SELECT state, failures FROM imports"));
    await until(async () => {
      clock.advance(1_000);
      return tries === 6 || (await stateNow())!.state === "failed";
    }, `the end of an import after ${error}`);
    await role.stop();
    assertEquals(await stateNow(), { state, failures }, String(error));
  }
});
