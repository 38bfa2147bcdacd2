/** How long an import waits for the role, beside free places. */
import { assertEquals } from "@std/assert";
import type { Db } from "../../src/database/db.ts";
import { newSignals } from "../../src/jobs/signals.ts";
import { beginImport, insertImport } from "../../src/imports/import_rows.ts";
import { ImportRole } from "../../src/imports/worker/role.ts";
import { Metrics } from "../../src/operations/metrics.ts";
import type { Services } from "../../src/services.ts";
import { systemDeps } from "../../src/deps.ts";
import { boot } from "../support/app.ts";
import { TestClock, until } from "../support/clock.ts";
import { gate } from "../support/webhook_sink.ts";

/** The database, whose writes wait until the gate is opened. */
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

Deno.test("a due import that is not claimed although there is room tells for how long", async () => {
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
  } as unknown as Services);
  role.start();
  clock.advance(60_000);
  assertEquals(role.oldestWaitMs(), 0, "nothing is due");

  const id = deps.ids.uuid();
  await db.write(async (tx) => {
    await insertImport(tx, app.sellerNo, {
      id,
      state: "checking",
      acceptValid: false,
      dryRun: false,
      keepChanged: false,
      undoes: null,
      name: null,
    });
    const key = { sellerNo: app.sellerNo, importId: id };
    await beginImport(tx, key, {
      rootStart: 0,
      rootEnd: 0,
      parts: 0,
      products: 0,
      outside: [],
      problems: 0,
    });
  });
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
