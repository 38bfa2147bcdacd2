/** The audit log, as an operator searches it. */
import { assert, assertEquals } from "@std/assert";
import { boot, child, type TestApp, textAt } from "../../support/app.ts";
import { firstIdOf } from "../../../src/lib/ids.ts";
import { contract } from "../../support/forms.ts";

/** Inserts entries, one each millisecond from `at` on. */
async function insert(
  app: TestApp,
  count: number,
  { at, who, seller }: { at: number; who: string; seller: string },
): Promise<void> {
  await app.app.db.write((tx) =>
    tx.runMany(
      `INSERT INTO audit_log (id, at, who, action, seller, detail)
       VALUES (?, ?, ?, 'seller set', ?, 'made up')`,
      Array.from({ length: count }, (_, n) => [
        `${firstIdOf(at + n)}-7000-8000-${String(n).padStart(12, "0")}`,
        at + n,
        who,
        seller,
      ]),
      "any",
    )
  );
}

contract.test("audit: entries are found by time, actor and seller", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  const began = Date.now();
  const day = 86_400_000;
  const iso = (time: number) =>
    encodeURIComponent(new Date(time).toISOString());
  await insert(app, 6_000, { at: began - day, who: "anna", seller: "busy" });
  await insert(app, 3, { at: began - 2 * day, who: "bo", seller: "gone" });
  await insert(app, 1, { at: began - 3 * day, who: "anna", seller: "gone" });
  await app.call("/operator_api/sellers/acme/attribute/product_limit/5", {
    key: "op",
    method: "PUT",
  });
  const page = async (query: string) => {
    const { status, xml, text } = await app.call(
      `/operator_api/audit?limit=250&${query}`,
      { key: "op" },
    );
    assertEquals(status, 200, text);
    const entries = child(xml, "audit").children.map((entry) =>
      ["who", "seller"].map((name) => textAt(entry, name)).join(" ")
    );
    const next = xml.children.find(({ name }) => name === "next")?.text ?? null;
    return { entries, next };
  };
  const found = async (query: string) => {
    const list: string[] = [];
    let after: string | null = null;
    do {
      const place: string = after === null ? "" : `&after=${after}`;
      const { entries, next } = await page(`${query}${place}`);
      list.push(...entries);
      after = next;
    } while (after !== null);
    return list;
  };

  const gone = ["bo gone", "bo gone", "bo gone", "anna gone"];
  assertEquals(await found("seller=gone"), gone);
  assertEquals(await found("who=anna&seller=gone"), ["anna gone"]);
  assertEquals(await found("seller=Gone"), []);
  assertEquals(await found("who=environment"), ["environment acme"]);
  assertEquals(await found(`since=${iso(began)}`), ["environment acme"]);
  assertEquals((await found(`since=${iso(began - day + 5_900)}`)).length, 101);
  assertEquals(await found(`until=${iso(began - day - 1)}`), gone);
  const second = began - 2 * day + 1;
  assertEquals(
    await found(`since=${iso(second)}&until=${iso(second)}`),
    ["bo gone"],
  );
  assertEquals((await found("")).length, 6_005);

  // A page reads a bounded part of the log, and the next one continues after
  // it.
  const first = await page("seller=gone");
  assertEquals(first.entries, []);
  assert(first.next !== null);

  const wrong = await app.call(
    "/operator_api/audit?since=monday&until=2026-02-30",
    { key: "op" },
  );
  assertEquals(wrong.status, 422, wrong.text);
  assertEquals(wrong.text.match(/<field>/g)?.length, 2, wrong.text);
});
