/** The client with a service whose answers never end. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  ConnectionError,
  createClient,
  LimitError,
  type Limits,
} from "../../src/client/mod.ts";
import { inTime } from "../support/clock.ts";

const UPLOAD = { transaction_id: "1" };
const IMPORT = { import_id: "1" };
const encoder = new TextEncoder();

/**
 * A client whose `n`-th request, from 0, gets this answer. Its clock advances
 * only while the client sleeps, and by `ms` with each request.
 */
function hostile(
  answer: (n: number) => string | ReadableStream<Uint8Array>,
  limits: Partial<Limits> = {},
  ms = 0,
) {
  let requests = 0;
  let time = 0;
  const client = createClient({
    key: "",
    limits,
    fetch: () => {
      time += ms;
      return Promise.resolve(new Response(answer(requests++)));
    },
    now: () => time,
    sleep: (ms) => {
      time += ms;
      return Promise.resolve();
    },
  });
  return { client, asked: () => requests };
}

/** A body that repeats this text as long as it is read. */
function endless(text: string): ReadableStream<Uint8Array> & { left: boolean } {
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(encoder.encode(text)),
    cancel: () => void Object.assign(stream, { left: true }),
  });
  return Object.assign(stream, { left: false });
}

function page(next: string): string {
  return JSON.stringify({ products: [], next });
}

function results(next: string): string {
  return JSON.stringify({ transaction: { results: [], next } });
}

const PROGRESS = 'event: progress\ndata: {"transaction":{}}\n\n';
const UNFINISHED = '{"transaction":{"finished_at":null}}';

async function readAll(list: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of list);
}

/** Fails unless this ends with a `LimitError`. */
async function assertEnds(
  work: Promise<unknown>,
  message: string,
): Promise<void> {
  const ended = inTime(work, "the end");
  await assertRejects(() => ended, LimitError, message);
}

Deno.test("a list ends even if its cursors form a cycle of any length", async () => {
  for (const circle of [1, 2, 3, 7, 100]) {
    const again = "The list does not end: two pages have the cursor";
    const cursor = (n: number) => `${n < 5 ? `start ${n}` : n % circle}`;
    // A list that returns the requested cursor is at its end.
    if (circle > 1) {
      const lists = hostile((n) => page(cursor(n)));
      await assertEnds(readAll(lists.client.products.list()), again);
      assert(lists.asked() <= 4 * (circle + 5), `${lists.asked()} requests`);
    }
    const more = hostile((n) => results(cursor(n)));
    await assertEnds(readAll(more.client.uploads.results(UPLOAD)), again);
    assert(more.asked() <= 4 * (circle + 5), `${more.asked()} requests`);
  }
});

Deno.test("a list that always has another page ends at the limit of pages", async () => {
  const limits = { pages: 1_000 };
  const { client, asked } = hostile((n) => page(`${n}`), limits);
  const work = readAll(client.products.list());
  await assertEnds(work, "The list has more than 1000 pages.");
  assertEquals(asked(), 1_000);
  const more = hostile((n) => results(`${n}`), limits);
  await assertEnds(
    readAll(more.client.uploads.results(UPLOAD)),
    "more than 1000",
  );
});

Deno.test("an answer that never ends is aborted at the limit of bytes and not retried", async () => {
  for (const status of [200, 503]) {
    const body = endless("<a/>".repeat(1_000));
    let asked = 0;
    const client = createClient({
      key: "",
      limits: { answerBytes: 100_000 },
      fetch: () => {
        asked++;
        return Promise.resolve(new Response(body, { status }));
      },
    });
    const message = "The answer has more than 100000 bytes.";
    await assertEnds(client.products.list(), message);
    assertEquals([asked, body.left], [1, true]);
  }
});

Deno.test("a stream that never becomes final ends in time, whatever it sends", async () => {
  // One stream each time, which breaks.
  for (const text of [PROGRESS, ": on\n\n", ""]) {
    const { client } = hostile(() => text, { followFor: 600_000 });
    const work = readAll(client.uploads.follow(UPLOAD, { retryFor: Infinity }));
    await assertEnds(work, "The upload did not end in 600 seconds.");
  }
  // One stream, which continues.
  for (const text of [PROGRESS, ": on\n\n"]) {
    let time = 0;
    const body = endless(text);
    const client = createClient({
      key: "",
      fetch: () => Promise.resolve(new Response(body)),
      now: () => time += 60_000,
    });
    const message = "The upload did not end in 86400 seconds.";
    await assertEnds(readAll(client.uploads.follow(UPLOAD)), message);
    assertEquals(body.left, true);
  }
});

Deno.test("an event that never ends is aborted at the limit of its length", async () => {
  const body = endless("data: x");
  const { client } = hostile(() => body);
  const work = readAll(client.uploads.follow(UPLOAD));
  await assertEnds(work, "an event of more than 65536 characters");
  assertEquals(body.left, true);
});

Deno.test("an upload that never becomes final is polled with pauses until the time limit", async () => {
  const limits = { followFor: 600_000 };
  const { client, asked } = hostile(() => UNFINISHED, limits);
  const message = "The upload did not end in 600 seconds.";
  await assertEnds(client.uploads.waitFor(UPLOAD), message);
  assertEquals(asked(), 2 * 600 + 1);
  const short = hostile(() => UNFINISHED, { followFor: 90_000 }, 30_000);
  await assertEnds(short.client.uploads.waitFor(UPLOAD), "in 90 seconds");
  assertEquals(short.asked(), 3);
});

Deno.test("an import that never becomes final ends in time", async () => {
  const limits = { followFor: 600_000 };
  const message = "The import did not end in 600 seconds.";
  const polled = hostile(() => '{"import":{"finished_at":null}}', limits);
  await assertEnds(polled.client.imports.waitFor(IMPORT), message);
  const followed = hostile(() => ": on\n\n", limits);
  const work = followed.client.imports.follow(IMPORT, { retryFor: Infinity });
  await assertEnds(readAll(work), message);
});

Deno.test("limits can be raised", async () => {
  const long = `{"products":[]}${" ".repeat(100_000)}`;
  const { client } = hostile(() => long, { answerBytes: 200_000 });
  assertEquals((await client.products.list()).products, []);
  const broken = hostile(() => "", { followFor: Infinity });
  await assertRejects(
    () => readAll(broken.client.uploads.follow(UPLOAD)),
    ConnectionError,
  );
});
