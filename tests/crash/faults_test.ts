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
import {
  type Program,
  runProgram,
  startProgram,
  temporaryFolder,
} from "../support/process.ts";
import { ImageHost } from "../support/image_host.ts";
import { addSellers, OPERATOR } from "../support/service.ts";
import { mountSmall } from "../support/small_disk.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { Inspector } from "../processes/inspect.ts";
import { Uploader } from "../processes/writers.ts";

/** A data folder with a seller; returns the seller's key. */
async function prepare(folder: string): Promise<string> {
  return (await addSellers(folder, ["acme"])).get("acme")!;
}

function serve(folder: string, env: Record<string, string> = {}) {
  return startProgram(["serve", "--port=0", `--data=${folder}`], {
    env: {
      SELLER_ALLOW_PRIVATE: "127.0.0.0/8",
      SELLER_OPERATOR_KEY: OPERATOR,
      ...env,
    },
  });
}

async function ask(
  { url }: Program,
  path: string,
  key: string,
  body?: string,
): Promise<{ status: number; text: string }> {
  const response = await fetch(url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "text/xml", "x-service-auth": key },
    body,
  });
  return { status: response.status, text: await response.text() };
}

function upload(program: Program, key: string, products: string) {
  const body = `<products>${products}</products>`;
  return ask(program, "/seller_api/bulk_products?v=1.1", key, body);
}

Deno.test("a real full disk: writes are 503 and store nothing until there is space", async () => {
  await using folder = await temporaryFolder();
  const data = `${folder.path}/data`;
  await using disk = await mountSmall(data, "6m");
  if (disk === null) {
    console.log("(skipped: only root can mount a small disk)");
    return;
  }
  const key = await prepare(data);
  await using program = await serve(data);
  await Deno.writeFile(`${data}/filler`, new Uint8Array(2_000_000));
  const long = `<description>${"x".repeat(5_000)}</description>`;
  const stored = new Set<string>();
  let refused = "";
  for (let n = 0; refused === "" && n < 100; n++) {
    const skus = Array.from({ length: 20 }, (_, i) => `${n}-${i}`);
    const products = skus.map((sku) => product(sku, long)).join("");
    const { status, text } = await upload(program, key, products);
    if (status === 200) skus.forEach((sku) => stored.add(sku));
    else refused = `${status} ${text}`;
  }
  assertMatch(refused, /^503 .*<code>unavailable<\/code>/);
  assertEquals((await ask(program, "/healthz", "")).status, 200);
  assertEquals((await ask(program, "/seller_api/webhooks", key)).status, 200);
  await Deno.remove(`${data}/filler`);
  const after = await upload(program, key, product("after", long));
  assertEquals(after.status, 200, after.text);
  stored.add("after");
  assertEquals((await program.stop()).code, 0);
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
    await prepare(folder.path);
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
  const key = await prepare(folder.path);
  await using kept = await temporaryFolder();
  {
    await using program = await serve(folder.path);
    assertEquals((await upload(program, key, product("p"))).status, 200);
    await program.stop();
  }
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
  await using program = await serve(folder.path);
  assertEquals((await upload(program, key, product("p"))).status, 200);
});

Deno.test("a damaged database page gives an error answer and does not stop the service", async () => {
  await using folder = await temporaryFolder();
  const key = await prepare(folder.path);
  const file = `${folder.path}/seller.db`;
  {
    await using program = await serve(folder.path);
    const many = Array.from({ length: 200 }, (_, n) => product(`p-${n}`));
    assertEquals((await upload(program, key, many.join(""))).status, 200);
    await program.stop();
  }
  const reader = new DatabaseSync(file, { readOnly: true });
  // A table that is not read at the start.
  const page = reader.prepare(
    "SELECT rootpage FROM sqlite_schema WHERE name = 'transactions'",
  ).get()!;
  reader.close();
  const start = (Number(page.rootpage) - 1) * 4_096;
  await damage(file, start, start + 4_096);
  await using program = await serve(folder.path);
  const answer = await upload(program, key, product("p-1"));
  assert(answer.status >= 500, answer.text);
  assert(!/sqlite|malformed|disk/i.test(answer.text), answer.text);
  assertEquals((await ask(program, "/healthz", "")).status, 200);
  assertEquals((await ask(program, "/seller_api/webhooks", key)).status, 200);
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
  const key = await prepare(data);
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
  await using program = await serve(data);
  assertEquals((await upload(program, key, product("A"))).status, 200);
});

/** Waits until the upload is final; returns its status record. */
async function finalStatus(
  program: Program,
  key: string,
  uploaded: { status: number; text: string },
): Promise<string> {
  assertEquals(uploaded.status, 200, uploaded.text);
  const id = /<transaction_id>(.*?)</.exec(uploaded.text)![1];
  let text = "";
  await until(async () => {
    const path = `/seller_api/bulk_products/${id}?wait=5`;
    ({ text } = await ask(program, path, key));
    return text.includes("<status>completed</status>");
  }, "the end of the upload");
  return text;
}

Deno.test("an image folder that returns empty is used again once marked, without a restart", async () => {
  await using folder = await temporaryFolder();
  await using host = new ImageHost();
  const key = await prepare(folder.path);
  const images = `${folder.path}/images`;
  const empty = async () => {
    await Deno.remove(images, { recursive: true });
    await Deno.mkdir(images);
  };
  const uploadImage = (program: Program, name: string) =>
    upload(
      program,
      key,
      product(
        name,
        `<images><image>${host.url}/good/${name}.png</image></images>`,
      ),
    );
  {
    await using program = await serve(folder.path);
    const first = await uploadImage(program, "first");
    assertStringIncludes(
      await finalStatus(program, key, first),
      "<stored>1</stored>",
    );
    await empty();
    const second = await uploadImage(program, "second");
    const reported = await program.errorLine(
      /image_store_failed.*store\.marker/,
    );
    const remedy = /run: (.*?)"/.exec(reported)![1];
    assertEquals(remedy, `mkdir -p ${images} && touch ${images}/store.marker`);
    assertEquals((await ask(program, "/readyz", "")).status, 503);
    await new Deno.Command("sh", { args: ["-c", remedy] }).output();
    assertStringIncludes(
      await finalStatus(program, key, second),
      "<stored>1</stored>",
    );
    // Only the marker is left in the marked folder.
    for (const { name } of [...Deno.readDirSync(images)]) {
      if (name === "store.marker") continue;
      await Deno.remove(`${images}/${name}`, { recursive: true });
    }
    assertStringIncludes(
      await finalStatus(program, key, await uploadImage(program, "third")),
      "<stored>1</stored>",
    );
    await empty();
    const { stderr } = await program.stop();
    const failures = stderr.match(/image_store_failed/g) ?? [];
    const recoveries = stderr.match(/image_store_works_again/g) ?? [];
    assertEquals(recoveries.length, 1);
    assert(failures.length <= 6, stderr);
  }
  await using program = await serve(folder.path);
  const last = await uploadImage(program, "last");
  await program.errorLine(/image_store_failed.*store\.marker/);
  assertEquals([...Deno.readDirSync(images)].map(({ name }) => name), []);
  await Deno.writeTextFile(`${images}/store.marker`, "");
  assertStringIncludes(
    await finalStatus(program, key, last),
    "<stored>1</stored>",
  );
});

Deno.test("two processes serve one data folder", async () => {
  await using folder = await temporaryFolder();
  await using sink = new WebhookSink();
  const key = await prepare(folder.path);
  const programs = await Promise.all([serve(folder.path), serve(folder.path)]);
  await using one = programs[0];
  await using two = programs[1];
  const registered = await ask(
    one,
    "/seller_api/webhooks",
    key,
    `<webhook><trigger>order_created</trigger><url>${sink.url()}</url></webhook>`,
  );
  assertEquals(registered.status, 200, registered.text);
  await Promise.all(
    [one, two].map(async (program, p) => {
      for (let n = 0; n < 20; n++) {
        const sku = `${p}-${n}`;
        const answer = await upload(program, key, product(sku));
        assertEquals(answer.status, 200, answer.text);
        const id = /<transaction_id>(.*?)</.exec(answer.text)![1];
        const other = program === one ? two : one;
        const path = `/seller_api/bulk_products/${id}?wait=5`;
        assertEquals((await ask(other, path, key)).status, 200);
        const event = await ask(
          program,
          "/operator_api/events",
          OPERATOR,
          "<event><seller>acme</seller><trigger>order_created</trigger>" +
            `<reference>${sku}</reference></event>`,
        );
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
  const key = await prepare(data);
  await using program = await serve(data, { SELLER_RATE_LIMIT: "0" });
  const uploaders = [1, 2, 3].map((n) => new Uploader(`up${n}`, null));
  let running = true;
  const writing = uploaders.map(async (uploader) => {
    while (running) assert(await uploader.writeOnce(program.url, key));
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
    {
      await using copy = await serve(restored);
      const ready = async () => (await ask(copy, "/readyz", "")).status === 200;
      await until(ready, "readiness");
      await copy.stop();
    }
    using inspector = new Inspector(restored);
    inspector.checkFile();
    inspector.checkCounters();
    uploaders.forEach(({ name }, i) => {
      const version = inspector.versionOf(name);
      assert(least[i] <= version && version <= most[i], `${name} ${version}`);
    });
  }
});
