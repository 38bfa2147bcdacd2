/**
 * The real program with a faulty disk, a damaged file, a second process, and
 * under load.
 */
import {
  assert,
  assertEquals,
  assertLess,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { product } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { runProgram, temporaryFolder } from "../support/process.ts";
import { ImageHost } from "../support/image_host.ts";
import { mountSmall } from "../support/small_disk.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { Inspector } from "../processes/inspect.ts";
import { addSellers, OPERATOR, Service } from "../processes/service.ts";
import { SqliteStore } from "../processes/store.ts";
import { Uploader } from "../processes/writers.ts";

Deno.test("a real full disk: writes are 503 and store nothing until there is space", async () => {
  await using folder = await temporaryFolder();
  const data = `${folder.path}/data`;
  await using disk = await mountSmall(data, "6m");
  if (disk === null) {
    console.log("(skipped: only root can mount a small disk)");
    return;
  }
  await using service = await Service.start(data);
  await Deno.writeFile(`${data}/filler`, new Uint8Array(2_000_000));
  const long = `<description>${"x".repeat(5_000)}</description>`;
  const stored = new Set<string>();
  let refused = "";
  for (let n = 0; refused === "" && n < 100; n++) {
    const skus = Array.from({ length: 20 }, (_, i) => `${n}-${i}`);
    const products = skus.map((sku) => product(sku, long)).join("");
    const { status, text } = await service.upload(products);
    if (status === 200) skus.forEach((sku) => stored.add(sku));
    else refused = `${status} ${text}`;
  }
  assertMatch(refused, /^503 .*<code>unavailable<\/code>/);
  assertEquals((await service.ask("/healthz")).status, 200);
  assertEquals((await service.ask("/seller_api/webhooks")).status, 200);
  await Deno.remove(`${data}/filler`);
  const after = await service.upload(product("after", long));
  assertEquals(after.status, 200, after.text);
  stored.add("after");
  assertEquals((await service.stop()).code, 0);
  using database = new DatabaseSync(`${data}/seller.db`, { readOnly: true });
  const rows = database.prepare("SELECT sku FROM products").all();
  assertEquals(
    rows.map(({ sku }) => sku).sort(),
    [...stored].sort(),
    "exactly what was acknowledged",
  );
  const check = database.prepare("PRAGMA integrity_check").get();
  assertEquals(check?.integrity_check, "ok");
});

/** Ways to damage a data folder, with the message of the start. */
const SPOILT: Record<string, [(file: string) => Promise<void>, RegExp]> = {
  "another program's database": [async (file) => {
    await Deno.remove(file);
    const database = new DatabaseSync(file);
    database.exec("CREATE TABLE theirs (x)");
    database.close();
  }, /is a database of another program; choose another data folder/],
  "a newer version's database": [(file) => {
    const database = new DatabaseSync(file);
    database.exec("PRAGMA user_version = 9999");
    database.close();
    return Promise.resolve();
  }, /has schema version 9999, this program knows \d+; start the newer/],
  "half a database": [async (file) => {
    const { size } = await Deno.stat(file);
    await Deno.truncate(file, Math.floor(size / 2 / 4_096) * 4_096);
  }, /cannot be used \(database disk image is malformed\)/],
  "a damaged first page": [
    (file) => damage(file, 100, 4_096),
    /cannot be used/,
  ],
  "text": [
    (file) => Deno.writeTextFile(file, "no database\n".repeat(999)),
    /cannot be used \(file is not a database\)/,
  ],
  "a folder in its place": [async (file) => {
    await Deno.remove(file);
    await Deno.mkdir(file);
  }, /cannot open or write the database/],
};

/** Overwrites a part of a file with random bytes. */
async function damage(file: string, from: number, to: number): Promise<void> {
  const bytes = await Deno.readFile(file);
  bytes.fill(0xa5, from, to);
  await Deno.writeFile(file, bytes);
}

for (const [name, [spoil, message]] of Object.entries(SPOILT)) {
  Deno.test(`${name} prevents the start with one clear line`, async () => {
    await using folder = await temporaryFolder();
    await addSellers(folder.path, ["acme"]);
    await spoil(`${folder.path}/seller.db`);
    const { code, stdout, stderr } = await runProgram([
      "serve",
      "--port=0",
      `--data=${folder.path}`,
    ]);
    assertEquals([code, stdout], [1, ""], stderr);
    assertMatch(stderr, /^error: [^\n]*\n$/);
    assertMatch(stderr, message);
  });
}

Deno.test("no empty database is created in a folder that lost its own", async () => {
  await using folder = await temporaryFolder();
  await using kept = await temporaryFolder();
  await using service = await Service.start(folder.path);
  assertEquals((await service.upload(product("p"))).status, 200);
  await service.stop();
  await Deno.rename(`${folder.path}/seller.db`, `${kept.path}/seller.db`);
  for (const words of [["serve", "--port=0"], ["seller", "add", "b"]]) {
    const { code, stdout, stderr } = await runProgram([
      ...words,
      `--data=${folder.path}`,
    ]);
    assertEquals([code, stdout], [1, ""], stderr);
    assertMatch(stderr, /^error: there is no seller\.db in [^\n]*\n$/);
    assertStringIncludes(stderr, "restore a backup");
  }
  await Deno.rename(`${kept.path}/seller.db`, `${folder.path}/seller.db`);
  await service.start();
  assertEquals((await service.upload(product("p"))).status, 200);
});

Deno.test("a damaged database page gives an error answer and does not stop the service", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/seller.db`;
  await using service = await Service.start(folder.path);
  const many = Array.from({ length: 200 }, (_, n) => product(`p-${n}`));
  assertEquals((await service.upload(many.join(""))).status, 200);
  await service.stop();
  const reader = new DatabaseSync(file, { readOnly: true });
  // A table that is not read at the start.
  const page = reader.prepare(
    "SELECT rootpage FROM sqlite_schema WHERE name = 'transactions'",
  ).get()!;
  reader.close();
  const start = (Number(page.rootpage) - 1) * 4_096;
  await damage(file, start, start + 4_096);
  await service.start();
  const answer = await service.upload(product("p-1"));
  assert(answer.status >= 500, answer.text);
  assert(!/sqlite|malformed|disk/i.test(answer.text), answer.text);
  assertEquals((await service.ask("/healthz")).status, 200);
  assertEquals((await service.ask("/seller_api/webhooks")).status, 200);
});

Deno.test("a folder that cannot be written prevents the start with one clear line", async () => {
  await using folder = await temporaryFolder();
  const data = `${folder.path}/data`;
  await Deno.writeTextFile(data, "a file, where a folder should be");
  const paths = [data, `${data}/below`, "/proc/seller-interface"];
  for (const path of paths) {
    const { code, stdout, stderr } = await runProgram([
      "serve",
      "--port=0",
      `--data=${path}`,
    ]);
    assertEquals([code, stdout], [1, ""], stderr);
    assertStringIncludes(
      stderr,
      `cannot open or write the database in ${path}`,
    );
  }
});

Deno.test("a read-only disk prevents the start with one clear line", async () => {
  await using folder = await temporaryFolder();
  const data = `${folder.path}/data`;
  await using disk = await mountSmall(data, "16m");
  if (disk === null) {
    console.log("(skipped: only root can mount a disk)");
    return;
  }
  await using service = await Service.create(data);
  const remount = (mode: string) =>
    new Deno.Command("mount", { args: ["-o", `remount,${mode}`, data] })
      .output();
  assert((await remount("ro")).success);
  const { code, stderr } = await runProgram([
    "serve",
    "--port=0",
    `--data=${data}`,
  ]);
  assertEquals(code, 1, stderr);
  assertMatch(stderr, /^error: this user cannot open or write [^\n]*\n$/);
  assert((await remount("rw")).success);
  await service.start();
  assertEquals((await service.upload(product("A"))).status, 200);
});

/** Waits until the upload is final; returns its status record. */
async function finalStatus(
  service: Service,
  uploaded: { status: number; text: string },
): Promise<string> {
  assertEquals(uploaded.status, 200, uploaded.text);
  const id = /<transaction_id>(.*?)</.exec(uploaded.text)![1];
  let text = "";
  await until(async () => {
    const path = `/seller_api/bulk_products/${id}?wait=5`;
    ({ text } = await service.ask(path));
    return text.includes("<status>completed</status>");
  }, "the end of the upload");
  return text;
}

Deno.test("an image folder that returns empty is used again once marked, without a restart", async () => {
  await using folder = await temporaryFolder();
  await using host = new ImageHost();
  await using service = await Service.start(folder.path);
  const images = `${folder.path}/images`;
  const empty = async () => {
    await Deno.remove(images, { recursive: true });
    await Deno.mkdir(images);
  };
  const uploadImage = (name: string) =>
    service.upload(
      product(
        name,
        `<images><image>${host.url}/good/${name}.png</image></images>`,
      ),
    );
  const first = await uploadImage("first");
  assertStringIncludes(
    await finalStatus(service, first),
    "<stored>1</stored>",
  );
  await empty();
  const second = await uploadImage("second");
  const reported = await service.program.errorLine(
    /image_store_failed.*store\.marker/,
  );
  const remedy = /run: (.*?)"/.exec(reported)![1];
  assertEquals(remedy, `mkdir -p ${images} && touch ${images}/store.marker`);
  assertEquals(await service.isReady(), false);
  await new Deno.Command("sh", { args: ["-c", remedy] }).output();
  assertStringIncludes(
    await finalStatus(service, second),
    "<stored>1</stored>",
  );
  // Only the marker is left in the marked folder.
  for (const { name } of [...Deno.readDirSync(images)]) {
    if (name === "store.marker") continue;
    await Deno.remove(`${images}/${name}`, { recursive: true });
  }
  assertStringIncludes(
    await finalStatus(service, await uploadImage("third")),
    "<stored>1</stored>",
  );
  await empty();
  const { stderr } = await service.stop();
  const failures = stderr.match(/image_store_failed/g) ?? [];
  const recoveries = stderr.match(/image_store_works_again/g) ?? [];
  assertEquals(recoveries.length, 1);
  assert(failures.length <= 6, stderr);
  await service.start();
  const last = await uploadImage("last");
  await service.program.errorLine(/image_store_failed.*store\.marker/);
  assertEquals([...Deno.readDirSync(images)].map(({ name }) => name), []);
  await Deno.writeTextFile(`${images}/store.marker`, "");
  assertStringIncludes(
    await finalStatus(service, last),
    "<stored>1</stored>",
  );
});

Deno.test("two processes serve one data folder", async () => {
  await using folder = await temporaryFolder();
  await using sink = new WebhookSink();
  await using one = await Service.create(folder.path);
  await using two = new Service(folder.path, one.keys);
  await Promise.all([one.start(), two.start()]);
  const registered = await one.ask("/seller_api/webhooks", {
    body: "<webhook><trigger>order_created</trigger>" +
      `<url>${sink.url()}</url></webhook>`,
  });
  assertEquals(registered.status, 200, registered.text);
  await Promise.all(
    [one, two].map(async (service, p) => {
      for (let n = 0; n < 20; n++) {
        const sku = `${p}-${n}`;
        const answer = await service.upload(product(sku));
        assertEquals(answer.status, 200, answer.text);
        const id = /<transaction_id>(.*?)</.exec(answer.text)![1];
        const other = service === one ? two : one;
        const path = `/seller_api/bulk_products/${id}?wait=5`;
        assertEquals((await other.ask(path)).status, 200);
        const event = await service.ask("/operator_api/events", {
          key: OPERATOR,
          body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
            `<reference>${sku}</reference></event>`,
        });
        assertEquals(event.status, 200, event.text);
      }
    }),
  );
  const ids = () =>
    new Set(sink.received.map(({ headers }) => headers.get("webhook-id")));
  await until(() => ids().size === 40, "every event");
  // The second process may take the first one's lease for one of a dead
  // process.
  assertLess(sink.received.length, 50, "each is sent by one of them");
});

Deno.test("backups taken under load restore to a state that existed", async () => {
  await using folder = await temporaryFolder();
  const data = `${folder.path}/data`;
  await using service = await Service.start(data, {
    env: { SELLER_RATE_LIMIT: "0" },
  });
  const uploaders = [1, 2, 3].map((n) => new Uploader(`up${n}`, null));
  let running = true;
  const writing = uploaders.map(async (uploader) => {
    while (running) {
      assert(await uploader.writeOnce(service.url, service.key));
    }
  });
  const backups: { name: string; least: number[]; most: number[] }[] = [];
  const versions = () => uploaders.map(({ acknowledged }) => acknowledged);
  for (const name of ["first", "second"]) {
    const least = versions();
    await Deno.mkdir(`${folder.path}/${name}`);
    const copy = `${folder.path}/${name}/seller.db`;
    const { code, stderr } = await runProgram([
      "backup",
      copy,
      `--data=${data}`,
    ]);
    assertEquals(code, 0, stderr);
    backups.push({ name, least, most: versions().map((n) => n + 1) });
  }
  running = false;
  await Promise.all(writing);
  for (const { name, least, most } of backups) {
    const restored = `${folder.path}/${name}`;
    await using copy = new Service(restored, service.keys);
    await copy.start();
    await copy.ready();
    await copy.stop();
    const inspector = new Inspector(new SqliteStore(restored));
    await inspector.checkFile();
    for (const [n, uploader] of uploaders.entries()) {
      const version = await inspector.versionOf(uploader);
      assert(
        least[n] <= version && version <= most[n],
        `${uploader.name} ${version}`,
      );
    }
  }
});
