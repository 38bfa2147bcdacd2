/**
 * Properties of every image store: a folder, object storage, the simulated
 * ones; and real object storage if SELLER_IMAGE_STORE and SELLER_S3_… are set.
 */
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { createHash } from "node:crypto";
import { clearImmediate, setImmediate } from "node:timers";
import { type Config, readConfig } from "../../../src/config.ts";
import { systemClock } from "../../../src/deps.ts";
import { imageFile } from "../../../src/images/image.ts";
import {
  imageStoreSettings,
  openImageStore,
} from "../../../src/images/storage/open.ts";
import type { ImageStore } from "../../../src/images/storage/blob_store.ts";
import { StoreError } from "../../../src/lib/store_error.ts";
import { fastParent } from "../../support/data_dir.ts";
import { inTime, until } from "../../support/clock.ts";
import { testConfig } from "../../support/config.ts";
import { Random } from "../../support/random.ts";
import { hasMinio, minioSettings } from "../../support/minio.ts";
import { configOf, S3Server } from "../../support/s3_server.ts";
import { SimulatedStore } from "../../simulation/image_store.ts";
import type { Scheduler } from "../../simulation/scheduler.ts";

/** More than is kept in memory, and not a multiple of a piece. */
const LARGE = Uint8Array.from({ length: 600_001 }, (_, n) => n % 251);
const SMALL = new TextEncoder().encode("a small image");
const NEVER = new AbortController().signal;

function fileOf(bytes: Uint8Array): string {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return imageFile({ sha256, type: "png" });
}

async function keep(store: ImageStore, bytes: Uint8Array): Promise<string> {
  const incoming = store.receive(crypto.randomUUID());
  for (let at = 0; at < bytes.length; at += 100_000) {
    incoming.append(bytes.subarray(at, at + 100_000));
  }
  try {
    assertEquals(await incoming.content(), bytes);
    await incoming.keep(fileOf(bytes), NEVER);
    return fileOf(bytes);
  } finally {
    await incoming.discard();
  }
}

async function bytesOf(
  store: ImageStore,
  ...args: Parameters<ImageStore["read"]>
): Promise<Uint8Array | null> {
  const image = await store.read(...args);
  if (image === null) return null;
  const bytes = await new Response(image.body).bytes();
  assertEquals(bytes.length, image.bytes);
  return bytes;
}

/** Real time, without waiting for it. */
const HURRIED: Scheduler = {
  time: 0,
  faulty: false,
  after(_ms, fn) {
    const timer = setImmediate(fn);
    return () => clearImmediate(timer);
  },
  random: () => new Random(1),
  trace: () => {},
};

function onEach(
  rule: string,
  check: (store: ImageStore) => Promise<void>,
): void {
  const run = async (place: Partial<Config>) => {
    const dataDir = await Deno.makeTempDir({ dir: fastParent });
    const config = testConfig({ ...place, dataDir });
    const store = openImageStore(imageStoreSettings(config), systemClock);
    try {
      store.prepare(true);
      await check(store);
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  };
  Deno.test(`a folder: ${rule}`, () => run({}));
  Deno.test(`object storage: ${rule}`, async () => {
    await using server = new S3Server();
    server.pageSize = 2;
    await run(server.config());
    assertEquals(server.refused, []);
  });
  for (const kind of ["folder", "bucket"] as const) {
    Deno.test(`a simulated ${kind}: ${rule}`, async () => {
      const store = new SimulatedStore(HURRIED, kind).open(systemClock);
      store.prepare(true);
      await check(store);
    });
  }
  Deno.test({
    name: `MinIO: ${rule}`,
    ignore: !hasMinio,
    fn: async () => await run(configOf(await minioSettings())),
  });
  const { config } = readConfig();
  if (config?.imageStore?.kind !== "s3") return;
  const { imageStore, dataDir: _, ...real } = config;
  Deno.test(`${imageStore.bucket}: ${rule}`, () => {
    const prefix = `${imageStore.prefix}/test-${crypto.randomUUID()}`
      .replace(/^\//, "");
    return run({ ...real, imageStore: { ...imageStore, prefix } });
  });
}

onEach("a stored image can be read whole and in part", async (store) => {
  for (const bytes of [SMALL, LARGE]) {
    const before = Date.now();
    const file = await keep(store, bytes);
    assertEquals(await bytesOf(store, file), bytes);
    const range = { start: 3, end: 10 };
    assertEquals(await bytesOf(store, file, range), bytes.slice(3, 10));
    const found = await store.stat(file);
    assertEquals([found?.name, found?.bytes], [file, bytes.length]);
    // The protocol has whole seconds; some servers round up.
    assert(found!.written >= before - 1_000, "written now");
    assert(found!.written <= Date.now() + 1_000, "written now");
  }
  assertEquals(await store.sweepTemporaryFiles(Infinity), 0);
});

onEach("the same image twice is one file", async (store) => {
  const file = await keep(store, SMALL);
  assertEquals(await keep(store, SMALL), file);
  assertEquals(await store.names(file.slice(0, 2)), [file]);
});

onEach("images stored at once do not disturb each other", async (store) => {
  const random = new Random(1);
  const kept = new Map<string, Uint8Array>();
  const takeSome = async (lane: number) => {
    for (let n = 0; n < 6; n++) {
      const bytes = new Uint8Array(2 + random.below(500_000))
        .fill(random.below(256)).fill(lane, 0, 1).fill(n, 1, 2);
      const incoming = store.receive(crypto.randomUUID());
      for (let at = 0; at < bytes.length;) {
        const piece = bytes.subarray(at, at + 1 + random.below(100_000));
        incoming.append(piece);
        at += piece.length;
        await Promise.resolve();
      }
      if (random.below(4) > 0) {
        assertEquals(fileOf(await incoming.content()), fileOf(bytes));
        await incoming.keep(fileOf(bytes), NEVER);
        kept.set(fileOf(bytes), bytes);
      }
      await incoming.discard();
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, lane) => takeSome(lane)));
  for (const [file, bytes] of kept) {
    assertEquals(fileOf((await bytesOf(store, file))!), fileOf(bytes));
  }
  assertEquals(await store.sweepTemporaryFiles(Infinity), 0);
});

onEach("a missing image is reported missing", async (store) => {
  const file = fileOf(SMALL);
  assertEquals(await store.stat(file), null);
  assertEquals(await store.read(file), null);
  assertEquals(await store.read(file, { start: 0, end: 1 }), null);
  assertEquals(await store.names(file.slice(0, 2)), []);
});

onEach("a discarded download leaves nothing", async (store) => {
  const incoming = store.receive("lease");
  incoming.append(LARGE);
  await incoming.discard();
  assertEquals(await store.sweepTemporaryFiles(Infinity), 0);
  assertEquals(await store.stat(fileOf(LARGE)), null);
});

onEach("old partial downloads are deleted", async (store) => {
  const file = await keep(store, SMALL);
  store.receive("lease").append(LARGE);
  assertEquals(await store.sweepTemporaryFiles(Date.now() - 60_000), 0);
  assertEquals(await store.sweepTemporaryFiles(Date.now() + 60_000), 1);
  assertEquals(await bytesOf(store, file), SMALL);
});

onEach("missing files are reported", async (store) => {
  const files = await Promise.all(
    ["a", "b", "c"].map((text) => keep(store, new TextEncoder().encode(text))),
  );
  const absent = [`00/${"00".repeat(32)}.png`, `ff/${"ff".repeat(32)}.png`];
  assertEquals(await store.missing([...files, ...absent].sort()), absent);
  assertEquals(await store.missing(files.sort()), []);
  assertEquals(await store.missing([]), []);
});

onEach("all names are listed, by their first digits", async (store) => {
  const files: string[] = [];
  for (let n = 0; n < 200; n++) {
    const bytes = new TextEncoder().encode(`image ${n}`);
    if (fileOf(bytes)[0] === "0") files.push(await keep(store, bytes));
  }
  assert(files.length > 5, "enough for several pages");
  const listed: string[] = [];
  for (const second of "0123456789abcdef") {
    listed.push(...await store.names(`0${second}`));
  }
  assertEquals(listed, files.sort());
});

onEach("a removed image is gone, and the others stay", async (store) => {
  const [gone, left] = [await keep(store, SMALL), await keep(store, LARGE)];
  for (const file of [gone, gone]) await store.remove(file);
  assertEquals(await store.stat(gone), null);
  assertEquals(await bytesOf(store, left), LARGE);
});

onEach("a reader that disconnects leaves nothing open", async (store) => {
  const file = await keep(store, LARGE);
  const image = await store.read(file);
  const reader = image!.body.getReader();
  await reader.read();
  await reader.cancel();
  assertEquals(await bytesOf(store, file), LARGE);
});

/** Calls `check` with an existing, empty folder and its store. */
function onFolder(
  rule: string,
  check: (folder: string, store: ImageStore) => Promise<void>,
): void {
  Deno.test(`a folder: ${rule}`, async () => {
    const folder = await Deno.makeTempDir({ dir: fastParent });
    const settings = { folder, s3: null };
    try {
      await check(folder, openImageStore(settings, systemClock));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

function entries(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

async function empty(folder: string): Promise<void> {
  await Deno.remove(folder, { recursive: true });
  await Deno.mkdir(folder);
}

const PREPARED = ["store.marker"];

onFolder("a new folder is marked and usable", async (folder, store) => {
  store.prepare(true);
  assertEquals(entries(folder), PREPARED);
  await store.probe();
  await keep(store, SMALL);
});

onFolder("a missing folder is created at the start", async (folder, store) => {
  await Deno.remove(folder);
  store.prepare(false);
  assertEquals(entries(folder), PREPARED);
  await store.probe();
});

onFolder("a subfolder is made when it is needed", async (folder, store) => {
  store.prepare(true);
  const file = await keep(store, SMALL);
  await Deno.remove(`${folder}/${file.slice(0, 2)}`, { recursive: true });
  assertEquals(await store.names(file.slice(0, 2)), []);
  assertEquals(await keep(store, SMALL), file);
});

onFolder(
  "an empty folder is not used for stored images until it is marked",
  async (folder, store) => {
    store.prepare(true);
    await empty(folder);
    store.prepare(false);
    const refused = await assertRejects(() => store.probe(), StoreError);
    const remedy = `mkdir -p ${folder} && touch ${folder}/store.marker`;
    assertStringIncludes(refused.message, remedy);
    await assertRejects(() => keep(store, SMALL), StoreError);
    assertEquals(entries(folder), [], "it may be a mount point");
    await Deno.writeTextFile(`${folder}/store.marker`, "");
    await store.probe();
    assertEquals(entries(folder), PREPARED);
    await keep(store, SMALL);
  },
);

onFolder(
  "anything but a regular file counts as missing and blocks nothing",
  async (folder, store) => {
    store.prepare(true);
    const file = await keep(store, SMALL);
    await store.remove(file);
    const { success } = await new Deno.Command("mkfifo", {
      args: [`${folder}/${file}`],
    }).output();
    assert(success);
    const asked = [store.stat(file), store.read(file)];
    assertEquals(await inTime(Promise.all(asked), "answers"), [null, null]);
    assertEquals(await store.missing([file]), [file]);
    await keep(store, SMALL);
    assertEquals(await bytesOf(store, file), SMALL);
  },
);

onFolder(
  "probes of several processes do not disturb each other",
  async (folder, store) => {
    store.prepare(true);
    const others = Array.from(
      { length: 8 },
      () => openImageStore({ folder, s3: null }, systemClock),
    );
    for (let n = 0; n < 10; n++) {
      await Promise.all(others.map((other) => other.probe()));
    }
    assertEquals(entries(folder), PREPARED);
  },
);

Deno.test("a disk that hangs blocks at most eight threads", async () => {
  const folder = await Deno.makeTempDir({ dir: fastParent });
  const config = testConfig({ dataDir: folder });
  const store = openImageStore(imageStoreSettings(config), systemClock);
  store.prepare(true);
  const { sync } = Deno.FsFile.prototype;
  const ended = Promise.withResolvers<void>();
  let waiting = 0;
  Deno.FsFile.prototype.sync = () => {
    waiting++;
    return ended.promise;
  };
  try {
    const keeping = Array.from(
      { length: 40 },
      (_, n) => keep(store, new TextEncoder().encode(`image ${n}`)),
    );
    await until(() => waiting >= 8, "the flushes");
    await new Promise((resolve) => setTimeout(resolve, 20));
    assertEquals(waiting, 8);
    ended.resolve();
    await Promise.all(keeping);
    assertEquals(waiting, 40);
  } finally {
    Deno.FsFile.prototype.sync = sync;
    await Deno.remove(folder, { recursive: true });
  }
});
