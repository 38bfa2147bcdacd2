/** Transfers of whole files to object storage. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { type Clock, systemClock } from "../../src/deps.ts";
import { StoreError } from "../../src/lib/store_error.ts";
import { S3Client } from "../../src/object_storage/client.ts";
import {
  hasObject,
  type ObjectPlace,
  receiveFile,
  sendFile,
} from "../../src/object_storage/file.ts";
import { temporaryFolder } from "../support/process.ts";
import { onBothStorages } from "../support/minio.ts";
import { Problem, S3Server, settingsOf } from "../support/s3_server.ts";

const MIB = 1024 * 1024;
const NEVER = new AbortController().signal;
/** The smallest parts that the protocol allows. */
const PART = 5 * MIB;
const options = { clock: systemClock, abort: NEVER, partBytes: PART };

function placeOn(server: S3Server): ObjectPlace {
  const client = new S3Client(settingsOf(server), systemClock);
  return { client, key: "db/copy.db" };
}

/** Bytes of which no two parts are equal. */
function content(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) {
    bytes.fill(at >> 16, at, at + 65_536);
  }
  return bytes;
}

async function withFile(
  bytes: Uint8Array,
  check: (path: string, copy: string) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/sent`;
  await Deno.writeFile(path, bytes);
  await check(path, `${folder.path}/received`);
}

onBothStorages(
  "a file of several parts can be read back, and no second file takes its name",
  async (settings) => {
    const client = new S3Client(settings, systemClock);
    for (const length of [0, PART + 5]) {
      const place = { client, key: `db/${length}.db` };
      const bytes = content(length);
      await withFile(bytes, async (path, copy) => {
        assertEquals(await hasObject(place), false);
        await sendFile(place, path, options);
        assertEquals(await hasObject(place), true);
        await receiveFile(place, copy, options);
        const received = await Deno.readFile(copy);
        assert(Buffer.compare(received, bytes) === 0, "the same bytes");
        assertEquals((await Deno.stat(copy)).mode! & 0o777, 0o600);
        await Deno.writeFile(path, content(MIB), { append: true });
        const error = await assertRejects(
          () => sendFile(place, path, options),
          StoreError,
        );
        assertEquals(error.kind, "condition");
      });
    }
  },
);

Deno.test("object storage: a failed part is sent again after growing pauses", async () => {
  await using server = new S3Server();
  const pauses: number[] = [];
  const clock: Clock = {
    ...systemClock,
    after: (ms, fn) => {
      const isPause = ms < 10_000;
      if (isPause) pauses.push(ms);
      return systemClock.after(isPause ? 0 : ms, fn);
    },
  };
  let refusals = 2;
  server.meddle = ({ url }) =>
    url.includes("partNumber=2&") && refusals-- > 0
      ? new Problem(503, "SlowDown").response()
      : null;
  await withFile(content(PART + 1), async (path, copy) => {
    const place = placeOn(server);
    await sendFile(place, path, { ...options, clock });
    await receiveFile(place, copy, options);
    assertEquals((await Deno.stat(copy)).size, PART + 1);
  });
  assertEquals(pauses, [1_000, 2_000]);
});

/** If such an answer ends an upload, nothing is left. */
async function leavesNothing(
  meddle: S3Server["meddle"],
  kind: StoreError["kind"],
): Promise<void> {
  await using server = new S3Server();
  server.meddle = meddle;
  await withFile(content(PART + 1), async (path) => {
    const error = await assertRejects(
      () => sendFile(placeOn(server), path, options),
      StoreError,
    );
    assertEquals(error.kind, kind, error.message);
  });
  assertEquals([server.objects.size, server.uploads.size], [0, 0]);
}

Deno.test("object storage: a refused part leaves no upload", () =>
  leavesNothing(
    ({ method }) =>
      method === "PUT" ? new Problem(403, "AccessDenied").response() : null,
    "denied",
  ));

Deno.test("object storage: parts that cannot be joined leave no upload", () =>
  leavesNothing(
    ({ method, url }) =>
      method === "POST" && url.includes("uploadId")
        // The status is sent before the result.
        ? new Response("<Error><Code>PreconditionFailed</Code></Error>")
        : null,
    "condition",
  ));

Deno.test("object storage: a stopped upload leaves nothing", async () => {
  await using server = new S3Server();
  const stop = new AbortController();
  server.meddle = ({ method }) => {
    if (method === "PUT") stop.abort(new Error("stopped on purpose"));
    return null;
  };
  await withFile(content(MIB), (path) =>
    assertRejects(
      () =>
        sendFile(placeOn(server), path, {
          ...options,
          abort: stop.signal,
        }),
      Error,
      "stopped on purpose",
    ).then(() => {}));
  assertEquals([server.objects.size, server.uploads.size], [0, 0]);
});

Deno.test("object storage: a lost answer to the last request does not fail the upload", async () => {
  await using server = new S3Server();
  server.meddle = async (request) => {
    if (!request.url.includes("uploadId") || request.method !== "POST") {
      return null;
    }
    server.meddle = () => null;
    for (const [id, { key, metadata, parts }] of server.uploads) {
      server.put(key, parts.get(1)!, Date.now(), metadata);
      server.uploads.delete(id);
    }
    return await Promise.resolve(new Problem(404, "NoSuchUpload").response());
  };
  await withFile(
    content(MIB),
    (path) => sendFile(placeOn(server), path, options),
  );
  assertEquals(server.objects.size, 1);
});

Deno.test("object storage: a file whose bytes differ from those sent is refused", async () => {
  await using server = new S3Server();
  const place = placeOn(server);
  await withFile(content(MIB), async (path, copy) => {
    await sendFile(place, path, options);
    const [[key, object]] = server.objects;
    server.put(key, content(MIB).fill(1, 5, 6), 0, object.metadata);
    await assertRejects(
      () => receiveFile(place, copy, options),
      StoreError,
      "not what was stored",
    );
  });
});
