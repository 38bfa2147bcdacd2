/** Whatever mail servers do may delay a mail, and affects nothing else. */
import {
  assert,
  assertEquals,
  assertLess,
  assertStringIncludes,
} from "@std/assert";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import { FIRST_MAIL_MS } from "../../src/notices/notice.ts";
import type { Mail, Mailer, MailOutcome } from "../../src/net/smtp.ts";
import { boot, child, product, type TestApp, textAt } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { MailServer } from "../support/mail_server.ts";
import {
  EMAIL,
  OPERATOR_KEY,
  tell,
  type Telling,
  tellingConfig,
} from "./support.ts";

/** Uses up a quota, which causes a notice. */
async function useUp(telling: Telling, sku = "A"): Promise<void> {
  assertEquals((await telling.app.upload(product(sku))).status, 200);
  await telling.set("product_limit", "1");
}

/**
 * Gives a seller an address of its own, and uses up its quota by an upload
 * through the app `through`.
 */
async function useUpOf(
  app: TestApp,
  name: string,
  key: string,
  through = app,
): Promise<void> {
  const set = (path: string) =>
    app.call(`/operator_api/sellers/${name}/attribute/${path}`, {
      method: "PUT",
      key: OPERATOR_KEY,
    });
  await set(`email/${name}%40x.example`);
  await set("product_limit/1");
  const body = `<products>${product("A")}</products>`;
  const path = "/seller_api/bulk_products?v=1.1";
  const { status } = await through.call(path, { method: "POST", key, body });
  assertEquals(status, 200);
}

/** Gives the answers of the list, then `sent`. */
class ListedMailer implements Mailer {
  readonly tried: Mail[] = [];
  readonly #outcomes: MailOutcome[];

  constructor(...outcomes: MailOutcome[]) {
    this.#outcomes = outcomes;
  }

  send(mail: Mail) {
    this.tried.push(mail);
    const outcome = this.#outcomes.shift() ?? "sent";
    return Promise.resolve({ outcome, reason: `${outcome} on purpose` });
  }
}

bothEngines.test("mails wait for an unreachable server, then go in one", async () => {
  await using telling = await tell();
  const { app, mail, clock } = telling;
  const { port } = mail;
  await mail[Symbol.asyncDispose]();
  await telling.set("email", EMAIL);
  await useUp(telling);
  const failed = () =>
    app.log.filter(({ event }) => event === "notice_not_sent").length;
  await telling.until(() => failed() > 0, "a try");
  clock.setForward(4 * HOUR_MS);
  const { text } = await app.call("/seller_api/imports?v=1.1&name=late.xml", {
    method: "POST",
    body:
      `<products><product><sku>A</sku><title>B</title></product></products>`,
  });
  assertStringIncludes(text, "import_id");
  assertEquals((await fetch(`${app.url}/readyz`)).status, 200);
  await telling.until(async () => {
    const rows = await app.app.db.read((sql) =>
      sql.all("SELECT 1 FROM notices WHERE recipient = 'seller'")
    );
    // The notices at 80, 90 and 100 %, and that of the import.
    return rows.length === 4;
  }, "the notices");
  // An attempt that began before does not contain all of them.
  const tries = failed();
  await telling.until(() => failed() > tries, "a try after it");
  await using again = await MailServer.start({ port });
  await telling.until(() => again.received.length > 0, "the mail");
  assertEquals(again.received.length, 1);
  const [{ text: told }] = again.received;
  assertStringIncludes(told, "Your quota is used up: 1 of 1 products.");
  assertStringIncludes(told, "The import late.xml");
  assert(!JSON.stringify(app.log).includes("acme.example"));
});

bothEngines.test("a mail that the server defers is sent later", async () => {
  await using telling = await tell({
    mail: {
      onRecipient: (_, count) => count < 3 ? [451, "greylisted"] : null,
    },
  });
  const { clock, mail } = telling;
  await telling.set("email", EMAIL);
  await useUp(telling);
  const log = () =>
    telling.app.log.filter(({ event }) => event === "notice_not_sent");
  for (let n = 1; n <= 2; n++) {
    await telling.until(() => log().length >= n, `try ${n}`);
    clock.setForward(5 * 60_000);
  }
  await telling.mailed(1);
  assertEquals(log().map(({ reason }) => reason), [
    "451 to RCPT TO",
    "451 to RCPT TO",
  ]);
  assertStringIncludes(mail.received[0].text, "used up");
});

bothEngines.test("a mail that an address rejects for good is dropped, and later ones are sent", async () => {
  const mailer = new ListedMailer("refused");
  await using telling = await tell({ app: { mailer } });
  const { app, clock } = telling;
  await telling.set("email", EMAIL);
  await useUp(telling);
  await telling.until(() => mailer.tried.length > 0, "a try");
  clock.setForward(2 * HOUR_MS);
  const refused = "<products><product/></products>";
  await app.call("/seller_api/imports?v=1.1", {
    method: "POST",
    body: refused,
  });
  await telling.until(() => mailer.tried.length >= 2, "another mail");
  assertStringIncludes(mailer.tried[1].text, "was refused");
  assert(!mailer.tried[1].text.includes("used up"));
});

bothEngines.test("a mail that may have been accepted is sent again unchanged", async () => {
  const mailer = new ListedMailer("unsure", "away", "unsure");
  await using telling = await tell({ app: { mailer } });
  const { app, clock } = telling;
  await telling.set("email", EMAIL);
  await useUp(telling);
  for (let n = 1; n <= 4; n++) {
    await telling.until(() => mailer.tried.length >= n, `try ${n}`);
    if (n === 1) {
      const refused = "<products><product/></products>";
      const call = { method: "POST", body: refused };
      await app.call("/seller_api/imports?v=1.1", call);
    }
    clock.setForward(10 * 60_000);
  }
  const [first, second, ...others] = mailer.tried;
  assertEquals(second, first);
  // The second attempt is known to have failed, but not the first.
  assertEquals(others[0], first);
  await telling.until(async () => {
    clock.setForward(HOUR_MS);
    return await Promise.resolve(
      mailer.tried.at(-1)!.text.includes("was refused"),
    );
  }, "the next mail");
  assert(!mailer.tried.at(-1)!.text.includes("used up"));
});

bothEngines.test("a mail that may have been accepted loses no notice that becomes a day old", async () => {
  const mailer = new ListedMailer("unsure", "unsure");
  await using telling = await tell({ app: { mailer } });
  const { app, clock } = telling;
  await telling.set("email", EMAIL);
  await useUp(telling);
  const refused = "<products><product/></products>";
  const call = { method: "POST", body: refused };
  await app.call("/seller_api/imports?v=1.1", call);
  await telling.until(() => mailer.tried.length === 1, "a try");
  const [first] = mailer.tried;
  assertStringIncludes(first.text, "used up");
  assertStringIncludes(first.text, "was refused");
  await app.app.db.write((tx) =>
    tx.run(
      `UPDATE notices SET created_at = created_at - ?
       WHERE kind = 'import_refused'`,
      [8 * 60_000],
      "any",
    )
  );
  clock.setForward(DAY_MS - 4 * 60_000);
  // Its end is stored before the notice is a day old.
  const isSettled = async () => {
    const leased = await app.app.db.read((sql) =>
      sql.all("SELECT 1 FROM notices WHERE lease_id IS NOT NULL")
    );
    return leased.length === 0;
  };
  await telling.until(
    async () => mailer.tried.length === 2 && await isSettled(),
    "another try",
  );
  clock.setForward(5 * 60_000);
  await telling.until(() => mailer.tried.length === 3, "the last try");
  const texts = mailer.tried.map(({ text }) => text.split("\n").toSorted());
  for (const again of texts) assertEquals(again, texts[0]);
});

bothEngines.test("a mail that may have been accepted counts as the one of its hour", async () => {
  const mailer = new ListedMailer("unsure");
  await using telling = await tell({ app: { mailer } });
  const { app, clock } = telling;
  await telling.set("email", EMAIL);
  await useUp(telling);
  const waiting = async () => {
    const rows = await app.app.db.read((sql) =>
      sql.all("SELECT 1 FROM notices WHERE told_at IS NULL")
    );
    return rows.length;
  };
  // It waits for a day, so its first attempt is its last one.
  await telling.until(async () => await waiting() > 0, "a notice");
  await app.app.db.write((tx) =>
    tx.run("UPDATE notices SET created_at = created_at - ?", [DAY_MS], "any")
  );
  await telling.until(async () => await waiting() === 0, "a try");
  const refused = "<products><product/></products>";
  await app.call("/seller_api/imports?v=1.1", {
    method: "POST",
    body: refused,
  });
  await telling.until(async () => await waiting() > 0, "another notice");
  clock.setForward(50 * 60_000);
  await telling.pass(60_000);
  assertEquals(mailer.tried.length, 1);
  clock.setForward(15 * 60_000);
  await telling.until(() => mailer.tried.length === 2, "another mail");
});

bothEngines.test("a mail is given up after a day", async () => {
  const mailer = new ListedMailer(...Array(9).fill("away"));
  await using telling = await tell({ app: { mailer } });
  const { app, clock } = telling;
  await telling.set("email", EMAIL);
  await useUp(telling);
  await telling.until(() => mailer.tried.length >= 2, "two tries");
  clock.setForward(DAY_MS + HOUR_MS);
  const waiting = async () => {
    const rows = await app.app.db.read((sql) =>
      sql.all(
        "SELECT 1 FROM notices WHERE due_at IS NOT NULL OR lease_id IS NOT NULL",
      )
    );
    return rows.length;
  };
  await telling.until(async () => await waiting() === 0, "no mail");
  assert(mailer.tried.length <= 4, `${mailer.tried.length}`);
});

bothEngines.test("several processes send each seller one notice", async () => {
  await using telling = await tell();
  const { app, mail, operator, clock } = telling;
  await using other = await boot({
    config: {
      ...tellingConfig({ mail, operator }),
      operatorKey: OPERATOR_KEY,
      dataDir: app.config.dataDir,
      databaseUrl: app.config.databaseUrl,
    },
    deps: { clock },
    seller: { id: app.sellerId, key: app.key },
  });
  telling.others.push(other);
  const sellers = "bcdefgh".split("");
  for (const name of sellers) {
    const key = await app.addSeller(name);
    await useUpOf(app, name, key, name < "e" ? app : other);
  }
  const reported = () => telling.told("seller_over_quota");
  await telling.until(
    () => mail.received.length >= sellers.length,
    "all mails",
  );
  await telling.until(
    () => reported().length >= sellers.length,
    "all requests",
  );
  await telling.pass(60_000);
  assertEquals(
    mail.received.map(({ to }) => to).sort(),
    sellers.map((name) => `${name}@x.example`),
  );
  assertEquals(
    reported().map(({ payload }) => payload.data.seller).sort(),
    sellers,
  );
  const { xml } = await app.call("/operator_api/sellers", {
    key: OPERATOR_KEY,
  });
  const [, second] = child(xml, "sellers").children;
  assertEquals(textAt(second, "email"), "b@x.example");
});

bothEngines.test("a suspended seller gets its notices when it is active again", async () => {
  const mailer = new ListedMailer();
  await using telling = await tell({ app: { mailer } });
  const { clock } = telling;
  await telling.set("email", EMAIL);
  await useUp(telling);
  await telling.set("status", "suspended");
  await telling.pass(60_000);
  assertEquals(mailer.tried, []);
  await telling.set("status", "active");
  await telling.until(() => mailer.tried.length > 0, "the mail");
  await telling.set("status", "suspended");
  clock.setForward(HOUR_MS);
  await telling.set("status", "active");
  await telling.pass(60_000);
  assertEquals(mailer.tried.length, 1);
});

bothEngines.test("a suspended seller delays no mail of another seller", async () => {
  const mailer = new ListedMailer();
  await using telling = await tell({ app: { mailer } });
  const { app, clock } = telling;
  const key = await app.addSeller("other");
  await telling.set("email", EMAIL);
  await useUp(telling);
  await telling.set("status", "suspended");
  await telling.pass(10_000);
  await useUpOf(app, "other", key);
  const began = clock.monotonic();
  await telling.until(() => mailer.tried.length > 0, "the mail");
  assertEquals(mailer.tried[0].to, "other@x.example");
  assertLess(clock.monotonic() - began, FIRST_MAIL_MS + 10_000);
});
