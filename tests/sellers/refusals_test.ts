import { assertEquals } from "@std/assert";
import { systemDeps } from "../../src/deps.ts";
import type { Db } from "../../src/database/db.ts";
import { firstIdOf } from "../../src/lib/ids.ts";
import {
  listRefusals,
  type Refusal,
  RefusalLog,
} from "../../src/sellers/refusals.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import { TestClock } from "../support/clock.ts";
import { bothEngines, openStore } from "../support/engine.ts";
import { collectGarbage } from "../support/garbage.ts";
import { makeDataDir } from "../support/data_dir.ts";

const FILTER = {
  since: null,
  until: null,
  code: null,
  route: null,
  q: null,
};

function refusal(of: Pick<Refusal, "id" | "sellerNo" | "at">): Refusal {
  return {
    ...of,
    keyId: "key",
    client: "192.0.2.1",
    route: "GET /seller_api/products",
    dryRun: false,
    name: null,
    status: 404,
    code: "not_found",
    message: "It is not there.",
    size: null,
    details: [],
    more: 0,
  };
}

/** The refusals of a seller. */
async function listed(db: Db, sellerNo: number) {
  const filter = { sellerNo, ...FILTER };
  const { found } = await db.read((sql) =>
    listRefusals(sql, filter, { after: null, limit: 250 })
  );
  return found;
}

bothEngines.test("refusals: a read waits for refusals that are being written", async () => {
  const db = openStore(makeDataDir());
  await using _ = { [Symbol.asyncDispose]: () => db.close() };
  const clock = new TestClock();
  const deps = { ...systemDeps("error"), clock };
  const { seller } = await db.write((tx) => addSeller(tx, deps, "acme"));
  const log = new RefusalLog(db, deps);
  const id = deps.ids.uuid();
  log.note(refusal({ id, sellerNo: seller.no, at: clock.now() }));
  // A separate timer starts the write.
  clock.advance(60_000);
  await log.flush();
  const found = await listed(db, seller.no);
  assertEquals(found.map(({ message }) => message), ["It is not there."]);
});

Deno.test("refusals: a refusal that could not be written is written when it recurs", async () => {
  const db = openStore(makeDataDir());
  await using _ = { [Symbol.asyncDispose]: () => db.close() };
  const clock = new TestClock();
  const deps = { ...systemDeps("error"), clock };
  const { seller } = await db.write((tx) => addSeller(tx, deps, "acme"));
  let isAway = true;
  const failing = {
    write: (...args: Parameters<Db["write"]>) =>
      isAway ? Promise.reject(new Error("away")) : db.write(...args),
  } as Db;
  const log = new RefusalLog(failing, deps);
  const note = async () => {
    const id = deps.ids.uuid();
    log.note(refusal({ id, sellerNo: seller.no, at: clock.now() }));
    await log.flush();
  };
  await note();
  isAway = false;
  for (let n = 0; n < 2; n++) await note();
  const found = await listed(db, seller.no);
  assertEquals(found.map(({ times }) => times), [2]);
});

bothEngines.test("refusals: those written while the clock was fast do not displace later ones", async () => {
  const db = openStore(makeDataDir());
  await using _ = { [Symbol.asyncDispose]: () => db.close() };
  const start = Date.now();
  const system = systemDeps("error");
  const { seller } = await db.write((tx) => addSeller(tx, system, "acme"));
  const note = async (aheadMs: number, message: string) => {
    const clock = new TestClock(start + aheadMs);
    const log = new RefusalLog(db, { ...system, clock });
    const id = `${firstIdOf(clock.now())}-7000-8000-000000000000`;
    const noted = { id, sellerNo: seller.no, at: clock.now() };
    log.note({ ...refusal(noted), message });
    await log.flush();
  };
  await note(60 * 60_000, "an hour fast");
  await note(0, "set back");
  const found = await listed(db, seller.no);
  assertEquals(found.map(({ message }) => message), ["set back"]);
});

Deno.test("refusals: each write stores 4 MiB of details and counts the others", async () => {
  const db = openStore(makeDataDir());
  await using _ = { [Symbol.asyncDispose]: () => db.close() };
  const clock = new TestClock();
  const deps = { ...systemDeps("error"), clock };
  const sellers: number[] = [];
  for (const name of ["a", "b", "c", "d", "e"]) {
    const { seller } = await db.write((tx) => addSeller(tx, deps, name));
    sellers.push(seller.no);
  }
  const detail = { code: "required" as const, message: "It is empty." };
  const room = 32 * 1_024 - JSON.stringify({ ...detail, sku: "" }).length;
  const details = [{ ...detail, sku: "x".repeat(room) }];
  const log = new RefusalLog(db, deps);
  for (let write = 1; write <= 2; write++) {
    for (let n = 0; n < 130; n++) {
      const sellerNo = sellers[n % sellers.length];
      const of = { id: deps.ids.uuid(), sellerNo, at: clock.now() };
      const message = `refusal ${n} of write ${write}`;
      log.note({ ...refusal(of), message, details });
    }
    await log.flush();
    let [stored, counted] = [0, 0];
    for (const sellerNo of sellers) {
      for (const { details, more } of await listed(db, sellerNo)) {
        stored += details.length;
        counted += more;
      }
    }
    assertEquals([stored, counted], [128 * write, 2 * write]);
  }
});

Deno.test("refusals: those remembered for comparison have no details", async () => {
  const db = { write: () => Promise.resolve() } as unknown as Db;
  const { clock, log } = systemDeps("error");
  const refusals = new RefusalLog(db, { clock, log });
  // The log copies a detail; the copy refers to the same object.
  const held: WeakRef<object>[] = [];
  const details = () => {
    const part = {};
    held.push(new WeakRef(part));
    return [{ code: "required" as const, message: "It lacks a part.", part }];
  };
  for (let n = 0; n < 10; n++) {
    const of = { id: `${n}`, sellerNo: n, at: 0 };
    refusals.note({ ...refusal(of), details: details() });
  }
  const countHeld = async () => {
    // A WeakRef keeps its object until the task that made it has ended.
    await new Promise((resolve) => setTimeout(resolve));
    collectGarbage();
    return held.filter((one) => one.deref() !== undefined).length;
  };
  assertEquals(await countHeld(), 10, "they are not written yet");
  await refusals.flush();
  assertEquals(await countHeld(), 0);
});
