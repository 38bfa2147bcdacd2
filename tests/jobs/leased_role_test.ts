/** What every role that works on a queue does, shown by a minimal one. */
import { assert, assertEquals } from "@std/assert";
import { type ClaimResult, LeasedRole } from "../../src/jobs/leased_role.ts";
import {
  claimRows,
  type Leased,
  settleRows,
} from "../../src/jobs/lease_queue.ts";
import { NOTICES } from "../../src/notices/notice.ts";
import { insertNotices } from "../../src/notices/rows.ts";
import { until } from "../support/clock.ts";
import { WebhookBench } from "../support/webhook_bench.ts";

/** Works on notices, one at a time, as the test says. */
class SmallRole extends LeasedRole {
  readonly #bench: WebhookBench;
  readonly #work: (role: SmallRole, leased: Leased) => Promise<void>;
  looks = 0;

  constructor(
    bench: WebhookBench,
    work: (role: SmallRole, leased: Leased) => Promise<void>,
    graceMs?: number,
  ) {
    super(bench, { queue: NOTICES, shared: false, graceMs });
    this.#bench = bench;
    this.#work = work;
  }

  protected async claimAndLaunch(now: number): Promise<ClaimResult> {
    this.looks++;
    const { db, seller } = this.#bench;
    const due = await db.read((sql) =>
      sql.all("SELECT 1 FROM notices WHERE due_at <= ?", [now])
    );
    if (due.length === 0) return { due: 0, changed: 0, againInMs: 1_000 };
    const [leased] = await this.claim(
      { db: db.of(seller.no) },
      async (tx, { lease, now }) => {
        const rows = await claimRows<{ id: string }>(tx, NOTICES, {
          sellerNo: seller.no,
          lease,
          of: "due_at <= ?",
          params: [now],
          limit: 1,
        }, { returning: "id" });
        return rows.map(({ id }) => ({ id, lease, sellerNo: seller.no }));
      },
      (rows) => rows,
    );
    this.launch([leased], () => this.#work(this, leased));
    return { due: due.length, changed: 1, againInMs: 1_000 };
  }

  end(leased: Leased): Promise<void> {
    return this.settle(
      { db: this.#bench.db.of(leased.sellerNo) },
      (tx) => settleRows(tx, NOTICES, [{ ...leased, dueAt: null }], "any"),
    );
  }

  get isAborted(): boolean {
    return this.aborting.aborted;
  }

  release(): Promise<void> {
    return this.releaseAll();
  }
}

async function addNotice({ db, seller }: WebhookBench): Promise<void> {
  await db.write((tx) =>
    insertNotices(tx, [{
      sellerNo: seller.no,
      id: "quota products",
      kind: "quota",
      recipient: "operator",
      detail: {},
      isSilent: false,
    }])
  );
}

interface QueueRow {
  due_at: number | null;
  lease_id: string | null;
}

/** The state of the notice in its queue. */
async function stateOf({ db }: WebhookBench): Promise<string> {
  const row = await db.read((sql) =>
    sql.get<QueueRow>("SELECT due_at, lease_id FROM notices")
  );
  if (row!.lease_id !== null) return "leased";
  return row!.due_at === null ? "done" : "due";
}

/** Advances the clock until the role has made this many more steps. */
async function looked(
  { clock }: WebhookBench,
  role: SmallRole,
  looks: number,
): Promise<number> {
  const last = role.looks + looks;
  await until(() => {
    if (role.looks >= last) return true;
    clock.advance(1_000);
    return false;
  }, "a look");
  return role.progress;
}

Deno.test("leased role: progress is any step of its work, or an empty search while idle", async () => {
  await using bench = await WebhookBench.open();
  const work = Promise.withResolvers<void>();
  const role = new SmallRole(bench, async (role, leased) => {
    await work.promise;
    await role.end(leased);
  });
  role.start();
  const idle = await looked(bench, role, 2);
  assert(await looked(bench, role, 2) > idle, "nothing is due");
  await addNotice(bench);
  await until(() => {
    bench.clock.advance(1_000);
    return role.inUse().in_flight === 1;
  }, "the claim");
  const claimed = await looked(bench, role, 2);
  assertEquals(await looked(bench, role, 60), claimed, "the work hangs");
  assertEquals(await stateOf(bench), "leased", "its lease is renewed");
  work.resolve();
  await until(() => role.inUse().in_flight === 0, "the end of the work");
  assertEquals(await stateOf(bench), "done");
  assert(await looked(bench, role, 2) > claimed);
  await role.stop();
});

Deno.test("leased role: a stop waits for work, then aborts it, and ends even if the work hangs", async () => {
  await using bench = await WebhookBench.open();
  const role = new SmallRole(bench, () => new Promise(() => {}), 2_000);
  await addNotice(bench);
  role.start();
  await until(() => role.inUse().in_flight === 1, "the claim");
  let isStopped = false;
  const stopped = role.stop().then(() => isStopped = true);
  await until(() => bench.clock.waiting > 0, "the grace");
  bench.clock.advance(1_999);
  await Promise.resolve();
  assertEquals([role.isAborted, isStopped], [false, false]);
  await until(() => {
    bench.clock.advance(100);
    return role.isAborted;
  }, "the abort");
  await until(() => {
    bench.clock.advance(100);
    return isStopped;
  }, "the stop");
  await stopped;
  assertEquals(await stateOf(bench), "leased", "it ends by itself");
});

Deno.test("leased role: failed work is logged, and its row is due again when the lease ends", async () => {
  await using bench = await WebhookBench.open();
  let tries = 0;
  const role = new SmallRole(bench, async (role, leased) => {
    if (++tries === 1) throw new Error("broken on purpose");
    await role.end(leased);
  });
  await addNotice(bench);
  role.start();
  await until(() => {
    bench.clock.advance(1_000);
    return tries === 2;
  }, "the second try");
  await until(async () => await stateOf(bench) === "done", "its end");
  await role.stop();
  const failed = bench.log.map((line) => JSON.parse(line))
    .filter(({ level }) => level === "error");
  assertEquals(failed.map(({ event, notice }) => [event, notice]), [
    ["notice_not_recorded", "quota products"],
  ]);
});

Deno.test("leased role: released rows are due at once", async () => {
  await using bench = await WebhookBench.open();
  const role = new SmallRole(bench, () => new Promise(() => {}));
  await addNotice(bench);
  role.start();
  await until(() => role.inUse().in_flight === 1, "the claim");
  assertEquals(await stateOf(bench), "leased");
  await role.abandon();
  await role.release();
  assertEquals(await stateOf(bench), "due");
});
