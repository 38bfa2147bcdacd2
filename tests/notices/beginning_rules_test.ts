/** A week before a rule begins, sellers are notified once of what breaks it. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import { dayOf } from "../../src/lib/values.ts";
import { product } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { EMAIL, OPERATOR_KEY, tell, type Telling } from "./support.ts";

async function put(telling: Telling, list: string): Promise<void> {
  const { status, text } = await telling.app.call("/operator_api/categories", {
    method: "PUT",
    key: OPERATOR_KEY,
    body: list,
  });
  assertEquals(status, 200, text);
}

const within = (category: string, more = "") =>
  `<categories><category>${category}</category></categories>${more}`;

/** Lets an hour pass, and waits until the job has run. */
async function anHourLater(telling: Telling): Promise<void> {
  const runs = async () => {
    const { text } = await telling.app.call("/metrics", { key: OPERATOR_KEY });
    const line = /^seller_upkeep_total.*"beginning_rules".*"done".* (\d+)$/m;
    return Number(line.exec(text)?.[1] ?? 0);
  };
  const before = await runs();
  await telling.leap(HOUR_MS);
  await telling.until(async () => await runs() > before, "the job");
}

/** The last day that sellers were notified of. */
async function announced({ app }: Telling): Promise<string | null> {
  const row = await app.app.db.read((sql) =>
    sql.get<{ announced: string | null }>(
      "SELECT announced FROM category_list",
    )
  );
  return row!.announced;
}

/** Notices about rules that are not sent yet. */
async function notices({ app }: Telling): Promise<unknown[]> {
  return await app.app.db.read((sql) =>
    sql.all(
      `SELECT id FROM notices
       WHERE kind = 'rules_beginning' AND told_at IS NULL`,
    )
  );
}

async function upload(telling: Telling, products: string): Promise<void> {
  const { status, text } = await telling.app.upload(products);
  assertEquals(status, 200, text);
}

bothEngines.test("a seller gets one notice, a week ahead, of how many products will break a rule", async () => {
  await using telling = await tell();
  const { mail, clock } = telling;
  await telling.set("email", EMAIL);
  // More than one read covers.
  const mugs = Array.from(
    { length: 150 },
    (_, n) => product(`MUG-${n}`, within("Mugs")),
  );
  await upload(
    telling,
    mugs.join("") +
      product("CUP", within("Cups", "<gtin>4006381333931</gtin>")),
  );
  await upload(telling, product("TOY", within("Toys")));
  const begins = dayOf(clock.now() + 30 * DAY_MS);
  const list = (more = "") =>
    `<categories><category name="Mugs">
      <rule field="gtin" required="true" from="${begins}"/>
      <rule attribute="material" required="true" from="${begins}"/></category>
    <category name="Cups">
      <rule field="gtin" required="true" from="${begins}"/></category>
    <category name="Toys">
      <rule field="gtin" required="true" from="${
      dayOf(clock.now() + 90 * DAY_MS)
    }"/></category>${more}</categories>`;
  await put(telling, list());
  // No notice yet, because 22 days are left.
  await anHourLater(telling);
  assertEquals(await announced(telling), null);
  clock.setForward(24 * DAY_MS);
  await anHourLater(telling);
  assertEquals(await announced(telling), begins);
  await telling.mailed(1);
  const [{ text }] = mail.received;
  assertStringIncludes(
    text.replaceAll(/\s+/g, " "),
    `150 of your products break a rule that begins on ${begins}: gtin (150), ` +
      "material (150).",
  );
  // The same list again, and later days, cause no other mail.
  await put(telling, list(`<category name="Tools"/>`));
  for (let day = 0; day < 2; day++) {
    clock.setForward(DAY_MS);
    await anHourLater(telling);
  }
  assertEquals(await notices(telling), []);
  assertEquals(mail.received.length, 1);
});

bothEngines.test("no mail is sent for products that satisfy the rules or for lists without dates", async () => {
  await using telling = await tell();
  const { clock } = telling;
  await telling.set("email", EMAIL);
  await upload(
    telling,
    product("MUG", within("Mugs", "<gtin>4006381333931</gtin>")),
  );
  const begins = dayOf(clock.now() + 5 * DAY_MS);
  await put(telling, '<categories><category name="Mugs"/></categories>');
  await put(
    telling,
    `<categories><category name="Mugs"><rule attribute="x" required="true"/>
      <rule field="gtin" required="true" from="${begins}"/></category>
    </categories>`,
  );
  await anHourLater(telling);
  assertEquals(await announced(telling), begins);
  assertEquals(await notices(telling), []);
});
