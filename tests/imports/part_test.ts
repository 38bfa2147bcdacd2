/** Reading a part of an import. */
import { assertEquals, assertRejects } from "@std/assert";
import { LeaseLost, readPart } from "../../src/imports/part.ts";
import { boot } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { ended, idOf, post, products } from "./calls.ts";

bothEngines.test("a part of an import whose document was deleted is not read", async () => {
  await using app = await boot();
  const importId = idOf(await post(app, products(3)));
  await ended(app, importId);
  const { db } = app.app;
  const deleted = await db.write((tx) =>
    tx.run("DELETE FROM import_pieces WHERE import_id = ?", [importId], "any")
  );
  assertEquals(deleted, 1);
  const job = await db.read(async (sql) => ({
    seller: { no: app.sellerNo },
    key: { sellerNo: app.sellerNo, importId },
    row: await sql.get("SELECT * FROM imports WHERE id = ?", [importId]),
    part: await sql.get("SELECT * FROM import_parts WHERE import_id = ?", [
      importId,
    ]),
  }));
  const services = { ...app.app, heavy: null } as never;
  await assertRejects(() => readPart(services, job as never), LeaseLost);
});
