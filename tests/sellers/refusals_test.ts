import { assertEquals } from "@std/assert";
import { systemDeps } from "../../src/deps.ts";
import { listRefusals, RefusalLog } from "../../src/sellers/refusals.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import { TestClock } from "../support/clock.ts";
import { bothEngines, openStore } from "../support/engine.ts";
import { makeDataDir } from "../support/data_dir.ts";

bothEngines.test("refusals: who reads them waits for those being written", async () => {
  const db = openStore(makeDataDir());
  await using _ = { [Symbol.asyncDispose]: () => db.close() };
  const clock = new TestClock();
  const deps = { ...systemDeps("error"), clock };
  const { seller } = await db.write((tx) => addSeller(tx, deps, "acme"));
  const log = new RefusalLog(db, deps);
  log.note({
    id: deps.ids.uuid(),
    sellerNo: seller.no,
    at: clock.now(),
    keyId: "key",
    client: "192.0.2.1",
    route: "GET /seller_api/products",
    dryRun: false,
    status: 404,
    code: "not_found",
    message: "It is not there.",
    size: null,
    details: [],
    more: 0,
  });
  // Its own timer begins to write.
  clock.advance(60_000);
  await log.flush();
  const filter = {
    sellerNo: seller.no,
    since: null,
    until: null,
    code: null,
    route: null,
    q: null,
  };
  const { found } = await db.read((sql) =>
    listRefusals(sql, filter, { after: null, limit: 10 })
  );
  assertEquals(found.map(({ message }) => message), ["It is not there."]);
});
