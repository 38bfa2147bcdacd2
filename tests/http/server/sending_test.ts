/**
 * Bodies are sent at the pace of their readers, and unread bytes are bounded.
 */
import { assertEquals, assertThrows } from "@std/assert";
import { jsonLog } from "../../../src/deps.ts";
import {
  type AnswerReader,
  BodySender,
  IDLE_MS,
  isSmallText,
  PUBLIC_BODIES,
} from "../../../src/http/server/sending.ts";
import { joinBlocks } from "../../../src/lib/blocks.ts";
import { ServiceError } from "../../../src/lib/errors.ts";
import { TestClock } from "../../support/clock.ts";
import { settle } from "../../support/settle.ts";

const MIB = 1_024 * 1_024;

class Bench {
  readonly clock = new TestClock();
  readonly logged: string[] = [];
  readonly sender = new BodySender({
    clock: this.clock,
    log: jsonLog("debug", (line) => this.logged.push(line)),
  });
  /** How many bodies released their resources. */
  ended = 0;
  /** Why keys are no longer valid; null while they are. */
  revoked: Error | null = null;

  reader(owner: string): AnswerReader {
    const slots = new DisposableStack();
    slots.defer(() => this.ended++);
    const checkKey = () =>
      this.revoked === null ? Promise.resolve() : Promise.reject(this.revoked);
    return { owner, untilSent: slots, checkKey };
  }

  send(mib: number, owner: string): ReadableStream<Uint8Array> {
    const bytes = [new Uint8Array(mib * MIB)];
    const body = this.sender.send(bytes, this.reader(owner));
    return body as ReadableStream<Uint8Array>;
  }

  /** A body that is produced as it is read, and never ends. */
  stream(owner: string, memoryBytes: number): ReadableStream<Uint8Array> {
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(9)),
    }, { highWaterMark: 0 });
    return this.sender.pace({ stream, memoryBytes }, this.reader(owner));
  }

  /** The code of the refusal; null if there is room. */
  refusal(owner: string): string | null {
    try {
      this.sender.checkRoom(owner);
      return null;
    } catch (error) {
      return (error as ServiceError).code;
    }
  }
}

/**
 * Reads a body until it breaks; returns the bytes before that, and the reason.
 */
async function brokenAt(
  body: ReadableStream<Uint8Array>,
): Promise<[bytes: number, reason: string]> {
  let bytes = 0;
  try {
    for await (const chunk of body) bytes += chunk.length;
  } catch (error) {
    return [bytes, (error as Error).message];
  }
  throw new Error(`it ended as if it were whole, after ${bytes} bytes`);
}

async function lengthOf(body: ReadableStream<Uint8Array>): Promise<number> {
  return (await new Response(body).arrayBuffer()).byteLength;
}

Deno.test("a body that is read arrives whole and releases its resources", async () => {
  const bench = new Bench();
  assertEquals(await lengthOf(bench.send(3, "a")), 3 * MIB);
  assertEquals(bench.ended, 1);
  assertEquals(bench.clock.waiting, 0);
  const short = new Uint8Array(10);
  assertEquals(bench.sender.send([short], bench.reader("a")), short);
});

Deno.test("whether a body is monitored depends on its bytes, not on its characters", () => {
  assertEquals(isSmallText("a".repeat(48 * 1_024)), true);
  assertEquals(isSmallText("a".repeat(48 * 1_024 + 1)), false);
  assertEquals(isSmallText("ж".repeat(24 * 1_024)), true);
  assertEquals(isSmallText("ж".repeat(24 * 1_024 + 1)), false);
});

Deno.test("blocks of a body are sent in order, each in its own chunks", async () => {
  const bench = new Bench();
  const blocks = [10, 0, 150_000, 65_536, 1].map((length, n) =>
    new Uint8Array(length).fill(n)
  );
  const body = bench.sender.send(blocks, bench.reader("a"));
  const chunks = await Array.fromAsync(body as ReadableStream<Uint8Array>);
  assertEquals(chunks.map(({ length }) => length), [
    ...[10, 65_536, 65_536, 18_928],
    ...[65_536, 1],
  ]);
  assertEquals(joinBlocks(chunks), joinBlocks(blocks));
});

Deno.test("a reader that reads nothing is disconnected; a slow one is not", async () => {
  const bench = new Bench();
  const stuck = bench.send(1, "a");
  const slow = bench.send(1, "a").getReader();
  let taken = 0;
  for (let n = 0; n < 3; n++) {
    taken += (await slow.read()).value!.length;
    bench.clock.advance(IDLE_MS - 1);
  }
  assertEquals(bench.ended, 1);
  assertEquals(await brokenAt(stuck), [0, "the reader takes nothing"]);
  for (;;) {
    const { value } = await slow.read();
    if (value === undefined) break;
    taken += value.length;
  }
  assertEquals(taken, MIB);
  assertEquals([bench.ended, bench.clock.waiting], [2, 0]);
});

Deno.test("a stall of this process disconnects no reader", async () => {
  const bench = new Bench();
  const reader = bench.send(1, "a").getReader();
  let taken = (await reader.read()).value!.length;
  bench.clock.leap(2 * IDLE_MS);
  for (;;) {
    const { value } = await reader.read();
    if (value === undefined) break;
    taken += value.length;
  }
  assertEquals(taken, MIB);
});

Deno.test("a reader that disconnects releases its resources", async () => {
  const bench = new Bench();
  const body = bench.send(1, "a").getReader();
  await body.read();
  await body.cancel();
  assertEquals([bench.ended, bench.clock.waiting], [1, 0]);
});

Deno.test("an owner with 32 MiB of unread answers is refused, others are not", async () => {
  const bench = new Bench();
  const bodies = Array.from({ length: 8 }, () => bench.send(4, "a"));
  assertEquals(bench.refusal("a"), "rate_limited");
  assertEquals(bench.refusal("b"), null);
  await lengthOf(bodies[0]);
  assertEquals(bench.refusal("a"), null);
});

Deno.test("readers that read nothing are disconnected to make room", async () => {
  const bench = new Bench();
  const moving = bench.send(16, "a").getReader();
  const bodies = ["b", "c", "d"].map((owner) => bench.send(16, owner));
  assertEquals(bench.refusal("e"), "unavailable");
  bench.clock.advance(1_000);
  await moving.read();
  assertEquals(bench.refusal("e"), null);
  assertEquals(bench.ended, 1, "the one that stood still for the longest");
  assertEquals(await brokenAt(bodies[0]), [0, "room is needed"]);
  assertEquals(await lengthOf(bodies[1]), 16 * MIB);
});

Deno.test("streams count the bytes that their sources keep, until they end", async () => {
  const bench = new Bench();
  const streams = Array.from({ length: 32 }, () => bench.stream("a", MIB));
  assertEquals(bench.refusal("a"), "rate_limited");
  assertThrows(() => bench.stream("a", MIB), ServiceError, "not been read");
  assertEquals(bench.refusal("b"), null);
  await streams[0].cancel();
  assertEquals(bench.refusal("a"), null);
  assertEquals(bench.ended, 1);
});

Deno.test("a stream whose reader pauses too long ends with an error, not as complete", async () => {
  const bench = new Bench();
  const body = bench.stream("a", 1);
  const reader = body.getReader();
  await reader.read();
  bench.clock.advance(IDLE_MS);
  reader.releaseLock();
  assertEquals((await brokenAt(body))[1], "the reader takes nothing");
  assertEquals([bench.ended, bench.clock.waiting], [1, 0]);
});

Deno.test("a stream with a slow source is not disconnected to make room", async () => {
  const bench = new Bench();
  const stream = new ReadableStream<Uint8Array>({}, { highWaterMark: 0 });
  const body = bench.sender.pace(
    { stream, memoryBytes: MIB },
    bench.reader("a"),
  );
  const next = body.getReader().read();
  await settle();
  for (const owner of ["b", "c", "d", "e"]) bench.send(16, owner);
  bench.clock.advance(1_000);
  assertEquals(bench.refusal("f"), null);
  assertEquals(bench.ended, 1);
  const ended = await Promise.race([next.catch(() => "cut off"), "waits"]);
  assertEquals(ended, "waits");
});

Deno.test("an answer is aborted within a second after its key is revoked", async () => {
  const bench = new Bench();
  const bodies = [bench.send(1, "a"), bench.stream("a", 1)];
  for (const body of bodies) {
    const reader = body.getReader();
    await reader.read();
    reader.releaseLock();
  }
  bench.revoked = new Error("the database is away");
  for (let n = 0; n < 10; n++) {
    bench.clock.advance(200);
    await settle();
  }
  assertEquals(bench.ended, 0, "an outage says nothing of the key");
  bench.revoked = new ServiceError("unauthorized", "revoked");
  for (let n = 0; n < 3; n++) {
    bench.clock.advance(200);
    await settle();
  }
  assertEquals([bench.ended, bench.clock.waiting], [2, 0]);
  for (const body of bodies) {
    assertEquals(await brokenAt(body), [0, "unauthorized"]);
  }
});

Deno.test("a source that checks the key ends its body itself if the reader waits", async () => {
  const bench = new Bench();
  let end = () => {};
  const source = (parts: number) =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if (parts-- > 0) return controller.enqueue(new Uint8Array(3));
        end = () => controller.close();
        return new Promise(() => {});
      },
    }, { highWaterMark: 0 });
  const [waiting, idle] = [1, 9].map((parts) =>
    bench.sender.pace(
      { stream: source(parts), memoryBytes: 1, checksKey: true },
      bench.reader("a"),
    )
  );
  const read = lengthOf(waiting);
  await settle();
  bench.revoked = new ServiceError("unauthorized", "revoked");
  for (let n = 0; n < 5; n++) {
    bench.clock.advance(200);
    await settle();
  }
  assertEquals(await brokenAt(idle), [0, "unauthorized"]);
  end();
  assertEquals(await read, 3);
});

Deno.test("a source that fails breaks the body, and the reason is logged", async () => {
  const bench = new Bench();
  let pulls = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (pulls++ > 0) throw new Error("disk");
      controller.enqueue(new Uint8Array(5));
    },
  }, { highWaterMark: 0 });
  const body = bench.sender.pace(
    { stream: source, memoryBytes: 5 },
    bench.reader("a"),
  );
  assertEquals(await brokenAt(body), [5, "Error: disk"]);
  assertEquals(JSON.parse(bench.logged[0]).error, "Error: disk");
  assertThrows(() => source.getReader());
});

/** Files that never end, and how many of them are open. */
class Readers {
  readonly bench = new Bench();
  open = 0;

  /** Null if there is no room. */
  send(client: string): ReadableStream<Uint8Array> | null {
    this.open++;
    const file = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(9)),
      cancel: () => void this.open--,
    }, { highWaterMark: 0 });
    try {
      return this.bench.sender.sendPublic(file, client) as ReadableStream<
        Uint8Array
      >;
    } catch {
      return null;
    }
  }

  /** How many bodies a client gets at once. */
  sendAll(client: string): number {
    let count = 0;
    while (this.send(client) !== null) count++;
    return count;
  }
}

Deno.test("public bodies: the next client has room, however many read", () => {
  const readers = new Readers();
  assertEquals(readers.sendAll("a"), PUBLIC_BODIES / 2);
  assertEquals(readers.sendAll("b"), PUBLIC_BODIES / 4);
  assertEquals(readers.sendAll("c"), PUBLIC_BODIES / 8);
  assertEquals(
    readers.open,
    PUBLIC_BODIES * 7 / 8,
    "what was refused is closed",
  );
});

Deno.test("public bodies: only readers that read nothing are disconnected to make room", async () => {
  const readers = new Readers();
  const reader = readers.send("a")!.getReader();
  assertEquals(readers.sendAll("a"), PUBLIC_BODIES / 2 - 1);
  readers.bench.clock.advance(1_000);
  await reader.read();
  assertEquals(readers.sendAll("a"), PUBLIC_BODIES / 2 - 1);
  assertEquals(readers.open, PUBLIC_BODIES / 2);
  assertEquals((await reader.read()).value?.length, 9);
  await reader.cancel();
  assertEquals(readers.open, PUBLIC_BODIES / 2 - 1);
});
