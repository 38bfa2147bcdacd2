/**
 * Waiting and streaming requests show that they are alive, and end when their
 * key is revoked.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { revokeKey } from "../../../src/sellers/key_rows.ts";
import {
  boot,
  codeOf,
  product,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { TestClock, until } from "../../support/clock.ts";
import { Host } from "../../support/host.ts";
import { bothForms, contract } from "../../support/forms.ts";

/** An upload that stays unfinished, because no process fetches its image. */
async function unfinished(app: TestApp, host: Host): Promise<string> {
  const uploaded = await app.upload(
    product("A", `<images><image>${host.url}/a</image></images>`),
  );
  return `/seller_api/bulk_products/${textAt(uploaded.xml, "transaction_id")}`;
}

async function openStream(app: TestApp, path: string) {
  const response = await fetch(app.url + path, {
    headers: { "X-Service-Auth": app.key, Accept: "text/event-stream" },
  });
  const stream = {
    text: "",
    ended: false,
    cancel: () => reader.cancel(),
  };
  const reader = response.body!.pipeThrough(
    new TextDecoderStream() as TransformStream<Uint8Array, string>,
  ).getReader();
  (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      stream.text += value;
    }
    stream.ended = true;
  })();
  return stream;
}

async function revoke(app: TestApp, clock: TestClock): Promise<void> {
  await app.app.db.write(async (tx) => {
    const key = await tx.get<{ id: string }>("SELECT id FROM api_keys");
    await revokeKey(tx, { clock }, key!.id);
  });
}

contract.test("a stream without progress sends a comment every 15 seconds", async () => {
  const clock = new TestClock();
  await using host = new Host(() => new Response());
  await using app = await boot({ deps: { clock } });
  const stream = await openStream(app, await unfinished(app, host));
  await until(() => stream.text.includes("event: progress"));
  for (let comments = 1; comments <= 3; comments++) {
    const began = clock.now();
    await until(() => {
      clock.advance(100);
      return stream.text.split(/^:.*\n\n/m).length > comments;
    }, "a comment");
    assert(clock.now() - began <= 15_000, `${clock.now() - began}`);
  }
  assertEquals(stream.text.split("event: ").length, 2, "no other event");
  await stream.cancel();
});

contract.test("revoking a key ends its waiting requests with 401, and its streams without final", async () => {
  const clock = new TestClock();
  await using host = new Host(() => new Response());
  await using app = await boot({ deps: { clock } });
  const path = await unfinished(app, host);
  const stream = await openStream(app, path);
  await until(() => stream.text.includes("event: progress"));
  const timers = clock.waiting;
  const waiting = app.call(`${path}?wait=30`);
  // Its timer, and that of its next check.
  await until(() => clock.waiting >= timers + 2, "the wait");
  await revoke(app, clock);
  let answered = false;
  waiting.then(() => answered = true);
  const began = clock.now();
  await until(() => {
    if (!answered || !stream.ended) clock.advance(50);
    return answered && stream.ended;
  }, "the end");
  assert(clock.now() - began <= 5_000, `${clock.now() - began}`);
  const answer = await waiting;
  assertEquals([answer.status, codeOf(answer)], [401, "unauthorized"]);
  assertStringIncludes(stream.text, "event: progress");
  assert(!stream.text.includes("event: final"));
});

bothForms.test("an upload whose image host does not answer is 503 when the service stops", async () => {
  const clock = new TestClock();
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<Response>();
  await using host = new Host(() => {
    asked.resolve();
    return released.promise;
  });
  await using app = await boot({ deps: { clock } });
  const image = `<images><image>${host.url}/a</image></images>`;
  const upload = app.upload(product("A", image));
  await asked.promise;
  const closed = app.app.close();
  let answered = false;
  upload.finally(() => answered = true);
  await until(() => {
    clock.advance(100);
    return answered;
  }, "an answer");
  const { status, text, headers } = await upload;
  assertEquals(status, 503, text);
  assertStringIncludes(text, "nothing of this request was stored");
  assert(headers.has("retry-after"));
  released.resolve(new Response());
  await closed;
});
