/** An answer has at most 4 MiB, and readers that do not read delay no other. */
import { assert, assertEquals } from "@std/assert";
import { systemDeps } from "../../../src/deps.ts";
import { ServiceError } from "../../../src/lib/errors.ts";
import { XML_FORM } from "../../../src/contracts/answer_form.ts";
import { errorDocument } from "../../../src/http/server/error_answers.ts";
import { joinBlocks } from "../../../src/lib/blocks.ts";
import type { EncodedBlocks } from "../../../src/xml/encode.ts";
import { ANSWER_LIMIT } from "../../../src/http/server/list.ts";
import { addOperatorKey } from "../../../src/sellers/operator_keys.ts";
import { Holders } from "../../../src/lib/holders.ts";
import { ReadLimiter } from "../../../src/http/admission/read_limiter.ts";
import {
  boot,
  child,
  codeOf,
  product,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { until } from "../../support/clock.ts";
import { Host } from "../../support/host.ts";
import { nextOf } from "../../support/read_out.ts";
import { bothEngines } from "../../support/engine.ts";
import { contract } from "../../support/forms.ts";

const PRODUCTS = "/seller_api/products";

/** About 190 KB in an answer. */
function large(sku: string): string {
  const amps = (count: number) => "&amp;".repeat(count);
  const attributes = Array.from(
    { length: 100 },
    (_, i) => `<attribute name="${i}${amps(45)}">${amps(255)}</attribute>`,
  );
  return product(
    sku,
    `<description>${amps(5_000)}</description>` +
      `<attributes>${attributes.join("")}</attributes>`,
  );
}

async function uploadLarge(app: TestApp, count: number): Promise<void> {
  const products = Array.from({ length: count }, (_, i) => large(`L-${i}`));
  const uploaded = await app.upload(products.join(""));
  assertEquals(uploaded.status, 200, uploaded.text);
}

/** All pages of a list; each must be within the limit. */
async function pagesOf(
  app: TestApp,
  path: string,
  key = app.key,
): Promise<string[]> {
  const pages: string[] = [];
  for (let after = "";;) {
    const answer = await app.call(`${path}${after}`, { key });
    assertEquals(answer.status, 200, answer.text.slice(0, 500));
    const bytes = Number(answer.headers.get("content-length"));
    assert(bytes <= ANSWER_LIMIT, `${bytes} bytes`);
    pages.push(answer.text);
    const next = /<next>(.*?)<\/next>/.exec(answer.text)?.[1];
    if (next === undefined) return pages;
    after = `${path.includes("?") ? "&" : "?"}after=${next}`;
  }
}

function matches(pages: readonly string[], pattern: RegExp): string[] {
  return pages.flatMap((page) =>
    [...page.matchAll(pattern)].map(([, found]) => found)
  );
}

bothEngines.test("a page of long products is shorter, and the next page continues after it", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  await uploadLarge(app, 30);
  await app.upload(product("SMALL"));
  const all = [...Array.from({ length: 30 }, (_, i) => `L-${i}`), "SMALL"];
  const pages = await pagesOf(app, `${PRODUCTS}?limit=250`);
  assertEquals(pages.length, 2);
  assertEquals(matches(pages, /<sku>(.*?)<\/sku>/g).sort(), all.sort());

  const feed = `/operator_api/products?limit=250`;
  const first = await app.call(feed, { key: "op" });
  const rest = await app.call(`${feed}&after=${nextOf(first.xml)}`, {
    key: "op",
  });
  const shown = matches([first.text, rest.text], /<sku>(.*?)<\/sku>/g);
  assertEquals(shown.sort(), all.sort());
  const end = await app.call(`${feed}&after=${nextOf(rest.xml)}`, {
    key: "op",
  });
  assertEquals([matches([end.text], /<sku>/g), nextOf(end.xml)], [[], null]);
});

contract.test("the results of a status end with next and continue after it", async () => {
  await using host = new Host(() => new Response());
  await using app = await boot();
  let n = 0;
  const image = () => `<image>${host.url}/${n++}/${"x".repeat(1_900)}</image>`;
  const uploaded = await app.upload(
    Array.from({ length: 250 }, (_, i) => {
      const images = Array.from({ length: 10 }, image).join("");
      return product(`A-${i}`, `<images>${images}</images>`);
    }).join(""),
  );
  const path = `/seller_api/bulk_products/${
    textAt(uploaded.xml, "transaction_id")
  }`;
  const pages = await pagesOf(app, path);
  assertEquals(pages.length, 2);
  assertEquals(
    matches(pages, /<sku>(.*?)<\/sku>/g),
    Array.from({ length: 250 }, (_, i) => `A-${i}`),
  );
  assertEquals(matches(pages, /<status>(pending)</g).length, 2_500);
  for (const page of pages) {
    assert(page.includes("<total>2500</total><pending>2500</pending>"));
  }
  const results = child((await app.call(path)).xml, "transaction").children
    .at(-1)!;
  assertEquals(results.children.at(-1)!.name, "next");
  for (const bad of ["x", "0", "-1", "1.5"]) {
    const answer = await app.call(`${path}?after=${bad}`);
    assertEquals([answer.status, codeOf(answer)], [422, "record_invalid"]);
  }
  const behind = await app.call(`${path}?after=250`);
  assertEquals(behind.text.includes("<results/>"), true);
});

contract.test("a delivery shows its last ten attempts, and a page of deliveries stays within the limit", async () => {
  await using app = await boot();
  const url = `https://${"x".repeat(1_900)}`;
  const uuid = (n: number) =>
    `00000000-0000-7000-8000-${`${n}`.padStart(12, "0")}`;
  await app.app.db.write(async (tx) => {
    const seller = await tx.get<{ seller_no: number }>(
      "SELECT MIN(seller_no) AS seller_no FROM sellers",
    );
    const no = seller!.seller_no;
    const ids = Array.from({ length: 250 }, (_, i) => uuid(i));
    await tx.run(
      `INSERT INTO webhooks (id, seller_no, trigger_name, url, failures,
         created_at, updated_at) VALUES (?, ?, 'order_paid', ?, 0, 0, 0)`,
      [uuid(999), no, url],
      "any",
    );
    await tx.runMany(
      `INSERT INTO events (id, seller_no, trigger_name, reference, body,
         created_at, delivery_id) VALUES (?, ?, 'order_paid', ?, ?, 0, ?)`,
      ids.map((id) => [id, no, id, new Uint8Array(1), id]),
      "any",
    );
    await tx.runMany(
      `INSERT INTO deliveries (id, event_id, seller_no, trigger_name,
         webhook_id, state, attempts, failures, created_at)
       VALUES (?, ?, ?, 'order_paid', ?, 'delivered', ?, 0, 0)`,
      ids.map((id, i) => [id, id, no, uuid(999), i === 0 ? 500 : 12]),
      "any",
    );
    await tx.runMany(
      `INSERT INTO delivery_attempts (seller_no, delivery_id, number, url,
         started_at) VALUES (?, ?, ?, ?, 0)`,
      ids.flatMap((id, i) =>
        Array.from({ length: i === 0 ? 500 : 12 }, (_, n) => [
          no,
          id,
          n + 1,
          url,
        ])
      ),
      "any",
    );
  });
  const path = "/seller_api/webhooks/order_paid/deliveries";
  const pages = await pagesOf(app, `${path}?limit=250`);
  assertEquals(pages.length, 2);
  assertEquals(matches(pages, /<event_id>(.*?)</g).length, 250);
  assertEquals(matches(pages, /<number>(.*?)</g).length, 2_500);
  const last = matches([pages[1].split(uuid(0)).at(-1)!], /<number>(.*?)</g);
  assertEquals(last, Array.from({ length: 10 }, (_, i) => `${491 + i}`));
});

Deno.test("an error lists as many details as fit and counts the rest", () => {
  const message = "é".repeat(5_000);
  const details = Array.from({ length: 1_200 }, (_, i) => ({
    product: i,
    code: "image_unavailable" as const,
    message,
  }));
  const error = new ServiceError("record_invalid", "m", { details, more: 7 });
  const encoded = joinBlocks(
    errorDocument(error, "id", XML_FORM) as EncodedBlocks,
  );
  const bytes = encoded.length;
  assert(bytes <= ANSWER_LIMIT && bytes > ANSWER_LIMIT * 0.9, `${bytes}`);
  const text = new TextDecoder().decode(encoded);
  const listed = text.split("<detail>").length - 1;
  const more = Number(/<more>(\d+)</.exec(text)![1]);
  assertEquals(listed + more, 1_207);
});

/** Sockets that send three requests each and read nothing. */
class StuckReaders implements Disposable {
  readonly #sockets: Deno.Conn[] = [];

  async open(
    app: TestApp,
    path: string,
    count: number,
    key = app.key,
  ): Promise<void> {
    const { hostname, port } = new URL(app.url);
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n` +
      `X-Service-Auth: ${key}\r\n\r\n`;
    for (let n = 0; n < count; n++) {
      const socket = await Deno.connect({ hostname, port: Number(port) });
      this.#sockets.push(socket);
      // The system's buffers take about one answer, but not three.
      await socket.write(new TextEncoder().encode(request.repeat(3)));
    }
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.close();
  }
}

/**
 * One of two readers does not read its answers to this path; only its own
 * requests wait.
 */
async function standsAlone(
  app: TestApp,
  path: string,
  key: string,
  other: string,
): Promise<void> {
  await uploadLarge(app, 30);
  const list = (key: string) => app.call(path, { key });
  let own: Promise<unknown>;
  {
    using stuck = new StuckReaders();
    await stuck.open(app, path, 8, key);
    await until(async () => {
      own = list(key);
      const late = new Promise((done) => setTimeout(done, 700, "late"));
      return await Promise.race([own, late]) === "late";
    }, "one that waits");
    assertEquals((await list(other)).status, 200);
    assertEquals((await app.call("/seller_api/webhooks")).status, 200);
  }
  await own!;
}

bothEngines.test("a seller whose clients do not read delays only itself", async () => {
  await using app = await boot();
  const other = await app.addSeller("other");
  await standsAlone(app, `${PRODUCTS}?limit=250`, app.key, other);
});

bothEngines.test("an operator whose clients do not read delays only itself", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  const { db } = app.app;
  const other = await addOperatorKey({ db, deps: systemDeps("error") }, {
    who: "command line",
    name: "other",
    readOnly: false,
  });
  await standsAlone(app, "/operator_api/products?limit=250", "op", other);
});

Deno.test("a short read does not wait for long reads of other owners", async () => {
  const quota = new ReadLimiter(systemDeps("error"), new Holders());
  const never = new AbortController();
  const begin = async (owner: string) => {
    const slots = {
      untilMade: new DisposableStack(),
      untilSent: new DisposableStack(),
    };
    const abort = () => never.signal;
    const request = { owner, abort };
    const take = await quota.begin(request, slots);
    return { take, held: slots };
  };
  const step = () => Promise.resolve("done");
  const long = await Promise.all(["a", "b", "c", "d", "e", "f"].map(begin));
  for (const { take } of long) await take(step, true);
  const short = await begin("g");
  for (let n = 0; n < 3; n++) {
    assertEquals(await short.take(step, false), "done");
  }
  let continued = false;
  const second = short.take(step, true).then(() => continued = true);
  for (const { take } of long) await take(step, true);
  assertEquals(continued, false);
  long[0].held.untilMade.dispose();
  await second;
});

bothEngines.test("reads take turns by owner; too many reads of one owner are refused", async () => {
  const quota = new ReadLimiter(systemDeps("error"), new Holders());
  const never = new AbortController();
  const stacks: DisposableStack[] = [];
  const begin = async (owner: string, abort = never.signal) => {
    const held = {
      untilMade: new DisposableStack(),
      untilSent: new DisposableStack(),
    };
    stacks.push(held.untilMade, held.untilSent);
    const request = { owner, abort: () => abort };
    return await quota.begin(request, held);
  };
  const first = await begin("a");
  for (let more = 0; more < 3; more++) await begin("a");
  const disconnect = new AbortController();
  const waiting = begin("a", disconnect.signal).catch(({ code }) => code);
  disconnect.abort();
  assertEquals(await waiting, "request_timeout");
  const steps: string[] = [];
  const other = await begin("b");
  const step = (take: typeof first, name: string) =>
    take(() => Promise.resolve(steps.push(name)), false);
  await Promise.all([
    ...[1, 2, 3, 4].map((n) => step(first, `a${n}`)),
    step(other, "b1"),
  ]);
  assert(steps.indexOf("b1") <= 2, `${steps}`);
  const many = Array.from({ length: 63 }, () => begin("a").catch((e) => e));
  const refused = await begin("a").catch(({ code }) => code);
  assertEquals(refused, "rate_limited");
  for (const stack of stacks) stack.dispose();
  void many;
});
