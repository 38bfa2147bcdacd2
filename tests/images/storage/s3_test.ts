/** Object storage that behaves wrongly. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createHash } from "node:crypto";
import { systemClock } from "../../../src/deps.ts";
import {
  S3Client,
  type S3Settings,
} from "../../../src/object_storage/client.ts";
import { S3Store } from "../../../src/images/storage/s3.ts";
import {
  StoreError,
  type StoreErrorKind,
} from "../../../src/lib/store_error.ts";
import { inParallel } from "../../../src/lib/in_parallel.ts";
import { onBothStorages } from "../../support/minio.ts";
import { TestClock, until } from "../../support/clock.ts";
import {
  Problem,
  S3Server,
  SECRET_KEY,
  settingsOf,
} from "../../support/s3_server.ts";

const FILE = `ab/${"ab".repeat(32)}.png`;
const BODY = new TextEncoder().encode("an image");
const SHA256 = createHash("sha256").update(BODY).digest("hex");
const NEVER = new AbortController().signal;

function storeOf(server: S3Server, more: Partial<S3Settings> = {}): S3Store {
  const client = new S3Client({ ...settingsOf(server), ...more }, systemClock);
  return new S3Store(client, "/nowhere");
}

async function putEmpty(client: S3Client, file: string): Promise<void> {
  const answer = await client.send({ method: "PUT", file });
  await answer?.drop();
}

/**
 * Fails with this kind, with this text in the message, and without the secret.
 */
async function fails(
  doing: Promise<unknown>,
  kind: StoreErrorKind,
  why: string,
): Promise<void> {
  const error = await assertRejects(() => doing, StoreError);
  assertEquals(
    [error.kind, error.message.includes(why)],
    [kind, true],
    error.message,
  );
  const reported = String(error.stack) + String(error.cause);
  assert(!reported.includes(SECRET_KEY), "the secret key is told");
}

Deno.test("object storage: a request is in progress until its answer has been read", async () => {
  await using server = new S3Server();
  const client = new S3Client(settingsOf(server), systemClock);
  await put(client, SHA256);
  assertEquals(client.inUse().requests, 0);
  const answer = await client.send({ method: "GET", file: FILE });
  assertEquals(client.inUse().requests, 1);
  assertEquals(await answer!.bytes(BODY.length), BODY);
  assertEquals(client.inUse().requests, 0);
});

async function put(
  client: S3Client,
  sha256: string,
  abort = NEVER,
): Promise<void> {
  await client.put(FILE, sha256, () => BODY, abort);
}

onBothStorages(
  "the error names a wrong key, region, bucket or clock",
  async (settings) => {
    const at = (more: Partial<S3Settings>, clock = systemClock) =>
      new S3Store(new S3Client({ ...settings, ...more }, clock), "/nowhere");
    const read = (more: Partial<S3Settings>) => at(more).read(FILE);
    await put(new S3Client(settings, systemClock), SHA256);
    await fails(read({ secretKey: "x" }), "denied", "SignatureDoesNotMatch");
    await fails(read({ accessKey: "xxx" }), "denied", "InvalidAccessKeyId");
    await fails(
      read({ region: "x" }),
      "unusable",
      "AuthorizationHeaderMalformed",
    );
    await fails(read({ bucket: "other" }), "unusable", "NoSuchBucket");
    await fails(
      at({ bucket: "other" }).names("ab"),
      "unusable",
      "NoSuchBucket",
    );
    const late = { ...systemClock, now: () => Date.now() - 16 * 60_000 };
    await fails(at({}, late).read(FILE), "denied", "RequestTimeTooSkewed");
    assertEquals(await at({ prefix: "other" }).read(FILE), null);
    assertEquals(
      await new Response((await at({}).read(FILE))!.body).bytes(),
      BODY,
    );
  },
);

onBothStorages(
  "a listing has all pages and ignores foreign keys",
  async (settings) => {
    const client = new S3Client(settings, systemClock);
    const fileOf = (n: number) => `cd/${n.toString(16).padStart(64, "0")}.png`;
    const files = Array.from({ length: 11 }, (_, n) => fileOf(n));
    await inParallel(16, files, (file) => putEmpty(client, file));
    const odd = [
      "cd/a b",
      "cd/ü&<'\">",
      "cd/a+b",
      "cd/%41",
      "cd/\u0001",
      "cd/x/y",
    ];
    for (const file of odd) await putEmpty(client, file);
    const store = new S3Store(client, "/nowhere", 5);
    assertEquals(await store.names("cd"), files);
  },
);

onBothStorages(
  "a range is read, and one behind the end is refused",
  async (settings) => {
    const client = new S3Client(settings, systemClock);
    const store = new S3Store(client, "/nowhere");
    await put(client, SHA256);
    const part = await store.read(FILE, { start: 3, end: 8 });
    assertEquals(await new Response(part!.body).bytes(), BODY.slice(3, 8));
    const behind = { start: BODY.length, end: BODY.length + 1 };
    await fails(store.read(FILE, behind), "unusable", "InvalidRange");
  },
);

onBothStorages(
  "a body that differs from its hash is refused",
  async (settings) => {
    const client = new S3Client(settings, systemClock);
    const wrong = "ab".repeat(32);
    await fails(put(client, wrong), "unusable", "XAmzContentSHA256Mismatch");
    assertEquals(await new S3Store(client, "/nowhere").stat(FILE), null);
  },
);

for (
  const [status, code, kind] of [
    [503, "SlowDown", "away"],
    [500, "InternalError", "away"],
    [400, "RequestTimeout", "away"],
    [507, "InsufficientStorage", "full"],
    [403, "QuotaExceeded", "full"],
    [403, "AccessDenied", "denied"],
    [400, "InvalidRequest", "unusable"],
    [404, "NoSuchBucket", "unusable"],
  ] as const
) {
  Deno.test(`object storage: ${status} ${code} is ${kind}`, async () => {
    await using server = new S3Server();
    server.meddle = () => new Problem(status, code).response();
    const client = new S3Client(settingsOf(server), systemClock);
    await fails(put(client, SHA256), kind, code);
    await fails(storeOf(server).read(FILE), kind, code);
    assertEquals(server.seen.length, 2, "an answer is final");
  });
}

Deno.test("object storage: an answer without a code is told by its status", async () => {
  await using server = new S3Server();
  server.meddle = () => new Response(null, { status: 503 });
  await fails(storeOf(server).stat(FILE), "away", ": answered 503.");
});

Deno.test("object storage: a redirect is not followed", async () => {
  await using other = new S3Server();
  await using server = new S3Server();
  server.meddle = (_, key) =>
    new Problem(307, "TemporaryRedirect").response("GET", {
      location: `${other.url}/pictures/${key}`,
      "x-amz-bucket-region": "eu-north-1",
    });
  await fails(storeOf(server).read(FILE), "unusable", "region eu-north-1");
  assertEquals([...other.seen, ...other.refused], []);
});

Deno.test("object storage: a broken connection is retried once", async () => {
  await using server = new S3Server();
  const breaking = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let connections = 0;
  const accept = (async () => {
    for await (const connection of breaking) {
      connections++;
      connection.close();
    }
  })();
  const { port: closing } = breaking.addr as Deno.NetAddr;
  const endpoint = `http://127.0.0.1:${closing}`;
  await fails(storeOf(server, { endpoint }).read(FILE), "away", "");
  breaking.close();
  await accept;
  assertEquals(connections, 2);
});

Deno.test("object storage: silence ends after ten seconds, a slow PUT after thirty", async () => {
  await using server = new S3Server();
  const release = Promise.withResolvers<null>();
  server.meddle = () => release.promise;
  const clock = new TestClock(Date.now());
  const client = new S3Client(settingsOf(server), clock);
  const store = new S3Store(client, "/nowhere");
  const read = fails(store.read(FILE), "away", "10 s");
  await until(() => server.count("GET") === 1, "the GET");
  clock.advance(10_000);
  await read;
  const sent = fails(put(client, SHA256), "away", "30 s");
  await until(() => server.count("PUT") === 1, "the PUT");
  clock.advance(30_000);
  await sent;
  release.resolve(null);
});

Deno.test("object storage: a body that stops coming ends after two minutes", async () => {
  await using server = new S3Server();
  const drip = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(BODY),
  });
  const headers = { "content-length": "1000" };
  server.meddle = () => new Response(drip, { headers });
  const clock = new TestClock(Date.now());
  const store = new S3Store(
    new S3Client(settingsOf(server), clock),
    "/nowhere",
  );
  const image = await store.read(FILE);
  const reader = image!.body.getReader();
  assertEquals((await reader.read()).value, BODY);
  const rest = assertRejects(() => reader.read());
  clock.advance(120_000);
  await rest;
});

Deno.test("object storage: an abort takes effect at once", async () => {
  await using server = new S3Server();
  const release = Promise.withResolvers<null>();
  server.meddle = () => release.promise;
  const abort = new AbortController();
  const client = new S3Client(settingsOf(server), systemClock);
  const sent = put(client, SHA256, abort.signal);
  await until(() => server.count("PUT") === 1, "the PUT");
  abort.abort(new Error("stopping"));
  await assertRejects(() => sent, Error, "stopping");
  release.resolve(null);
});

Deno.test("object storage: sixteen images are sent at once", async () => {
  await using server = new S3Server();
  const release = Promise.withResolvers<null>();
  server.meddle = () => release.promise;
  const client = new S3Client(settingsOf(server), systemClock);
  const sent = Array.from({ length: 40 }, () => put(client, SHA256));
  await until(() => server.count("PUT") === 16, "the first PUTs");
  release.resolve(null);
  await Promise.all(sent);
  assertEquals([server.count("PUT"), server.peak.get("PUT")], [40, 16]);
});

for (
  const [what, body] of [
    ["no XML", "hello"],
    ["another document", "<Buckets/>"],
    ["cut off", "<ListBucketResult><Contents>"],
    ["without an end", "<ListBucketResult><Name>x</Name></ListBucketResult>"],
    [
      "without a token to continue",
      "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
    ],
    [
      "circular",
      "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken></ListBucketResult>",
    ],
  ]
) {
  Deno.test(`object storage: a list that is ${what} is not read as empty`, async () => {
    await using server = new S3Server();
    server.meddle = () => new Response(body);
    await fails(storeOf(server).names("ab"), "unusable", "");
  });
}

Deno.test("object storage: a truncated list is not read as empty", async () => {
  await using server = new S3Server();
  const broken = new ReadableStream({
    pull: (controller) => controller.error(new Error("broken on purpose")),
  });
  server.meddle = () => new Response(broken);
  await fails(storeOf(server).names("ab"), "away", "");
});

Deno.test("object storage: objects other than images are not listed", async () => {
  await using server = new S3Server();
  for (const key of ["notes.txt", `${FILE}.bak`, FILE.slice(3), `x/${FILE}`]) {
    server.put(`shop/images/${key}`, BODY);
  }
  server.put(`shop/images/ab/notes.txt`, BODY);
  server.put(FILE, BODY);
  assertEquals(await storeOf(server).names("ab"), []);
  assertEquals(await storeOf(server, { prefix: "" }).names("ab"), [FILE]);
});

Deno.test("object storage: a range other than the requested one is not served", async () => {
  await using server = new S3Server();
  server.meddle = () =>
    new Response("whole", { headers: { "content-length": "5" } });
  const range = { start: 0, end: 2 };
  await fails(storeOf(server).read(FILE, range), "unusable", "range");
});
