/** Notices to the operator, while the database server may be lost. */
import { assert, assertEquals } from "@std/assert";
import { type Db, DbError, type ReadWrite } from "../../../src/database/db.ts";
import { systemDeps } from "../../../src/deps.ts";
import { newSignals } from "../../../src/jobs/signals.ts";
import type { Recipient } from "../../../src/notices/notice.ts";
import { insertNotices } from "../../../src/notices/rows.ts";
import type { Mailer } from "../../../src/net/smtp.ts";
import { NoticeRole } from "../../../src/notices/worker/role.ts";
import { Metrics } from "../../../src/monitoring/metrics.ts";
import type { Services } from "../../../src/services.ts";
import { boot, type TestApp } from "../../support/app.ts";
import { TestClock, until } from "../../support/clock.ts";
import { gate, WebhookSink } from "../../support/webhook_sink.ts";
import { EMAIL, OPERATOR_KEY, SECRET } from "../support.ts";

/** Stores notices about a seller. */
async function add(
  db: Db,
  sellerNo: number,
  ids: string[],
  recipient: Recipient = "operator",
): Promise<void> {
  await db.write((tx) =>
    insertNotices(
      tx,
      ids.map((id) => ({
        sellerNo,
        id,
        kind: "quota",
        recipient,
        detail: { quota: "products", percent: 100, seller: "acme" },
        isSilent: false,
      })),
    )
  );
}

/**
 * A role that is not started, on a database of these parts. It sends to the
 * operator; with a mailer, to sellers instead.
 */
function roleOn(
  { app, config: { dataDir } }: TestApp,
  sink: WebhookSink | Mailer,
  clock: TestClock,
  db: Partial<Db>,
): NoticeRole {
  const deps = { ...systemDeps("error"), clock };
  return new NoticeRole({
    config: {
      dataDir,
      imageStore: null,
      noticesUrl: sink instanceof WebhookSink ? sink.url() : null,
      noticesSecret: SECRET,
    },
    db: Object.assign(Object.create(app.db), db),
    deps,
    signals: newSignals(),
    network: {},
    mailer: sink instanceof WebhookSink ? null : sink,
    metrics: new Metrics("sqlite"),
    health: { check: () => Promise.resolve(new Map()) },
    disks: { update: () => Promise.resolve([]) },
    publicUrl: () => "https://sell.example",
  } as unknown as Services, { isSearching: () => false });
}

/** The sink answers nothing until the returned function is called. */
function holdAnswers(sink: WebhookSink): () => void {
  const { opened, open } = gate();
  sink.answering = async () => {
    await opened;
    return new Response();
  };
  return open;
}

Deno.test("sent notices that cannot be recorded on a lost server take no slot from others", async () => {
  await using app = await boot({ config: { roles: ["webhooks"] } });
  await using sink = new WebhookSink();
  const { db } = app.app;
  const clock = new TestClock(Date.now());
  const open = holdAnswers(sink);
  let isLost = false;
  const lost: ReadWrite = {
    read: db.read.bind(db),
    write: async (fn, options) => {
      if (isLost) throw new DbError("away", "broken on purpose");
      return await db.write(fn, options);
    },
  };
  const role = roleOn(app, sink, clock, {
    spread: {
      isAway: () => isLost,
      reachable: () => [isLost ? db : lost],
    } as unknown as Db["spread"],
  });
  await add(db, app.sellerNo, ["1", "2", "3", "4"]);
  role.start();
  await until(() => {
    if (role.inUse().working < 4) clock.advance(1_000);
    return sink.received.length === 4;
  }, "all places taken");
  isLost = true;
  open();
  await add(db, app.sellerNo, ["5"]);
  await until(() => {
    if (role.inUse().working < 5) clock.advance(500);
    return sink.received.length === 5;
  }, "the fifth");
  isLost = false;
  await until(() => {
    clock.advance(500);
    return role.inUse().working === 0;
  }, "what was sent recorded");
  const left = await db.read((sql) =>
    sql.all("SELECT 1 FROM notices WHERE told_at IS NULL")
  );
  assertEquals([left.length, sink.received.length], [0, 5]);
  await role.stop();
});

Deno.test("a notice whose claim waited long is not renewed at once", async () => {
  await using app = await boot({ config: { roles: ["webhooks"] } });
  await using sink = new WebhookSink();
  const { db } = app.app;
  const clock = new TestClock(Date.now());
  const open = holdAnswers(sink);
  let looks = 0;
  const slow: ReadWrite = {
    read: (fn, options) => {
      looks++;
      return db.read(fn, options);
    },
    write: (fn, options) => {
      clock.leap(6_000);
      return db.write((tx) => {
        tx.now = () => clock.now();
        return fn(tx);
      }, options);
    },
  };
  let renewed = 0;
  const role = roleOn(app, sink, clock, {
    spread: {
      isAway: () => false,
      reachable: () => [slow],
    } as unknown as Db["spread"],
    of: (sellerNo) => {
      renewed++;
      return db.of(sellerNo);
    },
  });
  await add(db, app.sellerNo, ["1"]);
  clock.advance(1_000);
  role.start();
  await until(() => sink.received.length === 1, "the notice");
  for (let second = 0; second < 3; second++) {
    const before = looks;
    await until(() => {
      clock.advance(100);
      return looks > before;
    }, "a step");
  }
  assertEquals(renewed, 0);
  open();
  await until(() => {
    clock.advance(500);
    return role.inUse().working === 0;
  }, "the record");
  await role.stop();
});

Deno.test("a notice role makes progress while it sends or is idle, but not while a mail hangs", async () => {
  await using app = await boot({
    config: { roles: ["api"], operatorKey: OPERATOR_KEY },
  });
  const { status } = await app.call(
    `/operator_api/sellers/${app.sellerId}/attribute/email/${EMAIL}`,
    { method: "PUT", key: OPERATOR_KEY },
  );
  assertEquals(status, 204);
  const { db } = app.app;
  const clock = new TestClock(Date.now());
  const { opened, open } = gate();
  const mails: string[] = [];
  let looks = 0;
  const mailer: Mailer = {
    send: async (mail) => {
      mails.push(mail.id);
      await opened;
      return { outcome: "sent", reason: "" };
    },
  };
  const role = roleOn(app, mailer, clock, {
    read: (fn, options) => {
      looks++;
      return db.read(fn, options);
    },
  });
  const progressAfter = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      const before = looks;
      await until(() => {
        clock.advance(1_000);
        return looks > before;
      }, "a step");
    }
    return role.progress;
  };
  role.start();
  const idle = await progressAfter(3);
  assert(await progressAfter(3) > idle, "nothing is due");
  await add(db, app.sellerNo, ["1"], "seller");
  await until(() => {
    clock.advance(1_000);
    return mails.length === 1;
  }, "the mail");
  const begun = await progressAfter(1);
  assertEquals(await progressAfter(60), begun, "it hangs");
  open();
  await until(() => role.inUse().working === 0, "the record");
  assert(role.progress > begun);
  await role.stop();
});

Deno.test("a notice role continues while one of several servers is unreachable", async () => {
  await using app = await boot({ config: { roles: ["webhooks"] } });
  await using sink = new WebhookSink();
  const { db } = app.app;
  const clock = new TestClock(Date.now());
  const holding = [{ isUp: false }, { isUp: false }];
  const away: ReadWrite = {
    read: () => Promise.reject(new DbError("away", "broken on purpose")),
    write: db.write.bind(db),
  };
  const role = roleOn(app, sink, clock, {
    spread: {
      isAway: () => false,
      reachable: () => [away],
      servers: holding,
    } as unknown as Db["spread"],
  });
  role.start();
  await until(() => role.trouble() !== null, "the failed step");
  assertEquals(role.trouble(), "the database cannot be reached");
  holding[0].isUp = true;
  assertEquals(role.trouble(), null);
  await role.stop();
});
