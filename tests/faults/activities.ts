/** Activities that may be in progress during a fault. */
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { picture } from "../../src/sandbox/pictures.ts";
import { Setter, Uploader, type Writer } from "../processes/writers.ts";
import { type Answer, child, product, textAt } from "../support/app.ts";
import { pause, until } from "../support/clock.ts";
import { OPERATOR } from "../processes/service.ts";
import { gate } from "../support/webhook_sink.ts";
import type { Stage } from "./stage.ts";

/** An activity that has begun. */
export interface Activity {
  /**
   * Called in the middle of the fault: lets work continue that waits for other
   * hosts.
   */
  midway?: () => void;
  /** Begins nothing new; called when the fault has ended. */
  stop?: () => Promise<void>;
  /** Describes unfinished work; empty if there is none. */
  pending: () => Promise<string>;
  /** Throws if something acknowledged is lost, or was charged for. */
  verify: () => Promise<void>;
}

export type Begin = (stage: Stage) => Promise<Activity>;

const IMAGES = 12;
const EVENTS = 3;

/** The activities, in the order of their beginning. */
export const ACTIVITIES: Readonly<Record<string, Begin>> = {
  "nothing": () =>
    Promise.resolve({
      pending: () => Promise.resolve(""),
      verify: () => Promise.resolve(),
    }),
  // The first, because other activities would end in the time until a mail is
  // due.
  "a mail in flight": mailInFlight,
  "uploads": uploads,
  "uploads of images": uploadsOfImages,
  "images in flight": imagesInFlight,
  "images waiting for a retry": imagesWaiting,
  "deliveries in flight": deliveries,
  "an event stream": eventStream,
  "an import": importing,
  "a backup": backup,
};

/** Sellers' programs that write, and retry when they are asked to. */
async function uploads(stage: Stage): Promise<Activity> {
  const { app } = stage;
  const sku = stage.name("set");
  assertEquals((await app.upload(product(sku))).status, 200);
  const writers: Writer[] = [
    new Uploader(stage.name("up"), null),
    new Uploader(stage.name("up"), null),
    new Setter(sku),
  ];
  let hasEnded = false;
  const failures: unknown[] = [];
  const running = writers.map(async (writer) => {
    while (!hasEnded) {
      await writer.writeOnce(app.url, app.key, 503).catch((error) => {
        failures.push(error);
        hasEnded = true;
      });
      await pause(20);
    }
  });
  const inDoubt = () => writers.filter(({ inDoubt }) => inDoubt !== null);
  return {
    stop: async () => {
      hasEnded = true;
      await Promise.all(running);
    },
    pending: async () => {
      for (const writer of inDoubt()) {
        await writer.writeOnce(app.url, app.key, 503);
      }
      return inDoubt().length === 0 ? "" : "uploads are refused";
    },
    verify: async () => {
      assertEquals(failures, []);
      for (const writer of writers) {
        const one = writer instanceof Uploader ? writer.sku(0) : sku;
        const { xml } = await app.call(`/seller_api/products/${one}`);
        const value = Number(textAt(xml, "product/quantity"));
        assert(writer.acknowledged > 0);
        assert(
          writer.possible.includes(value),
          `${writer.name} is at ${value}, acknowledged ${writer.possible}`,
        );
      }
    },
  };
}

/** A seller's program that uploads images, and retries when it is asked to. */
async function uploadsOfImages(stage: Stage): Promise<Activity> {
  const { app } = stage;
  const urls: string[] = [];
  const refused: string[] = [];
  let hasEnded = false;
  const send = async () => {
    const { status, text, xml } = await app.call("/seller_api/images", {
      method: "POST",
      body: picture(`${stage.name("sent")}.png`)!,
    });
    if (status === 200) urls.push(textAt(xml, "image/url"));
    else if (status !== 503) refused.push(text);
    return status;
  };
  assertEquals(await send(), 200);
  const running = (async () => {
    while (!hasEnded) {
      await send();
      await pause(50);
    }
  })();
  return {
    stop: async () => {
      hasEnded = true;
      await running;
    },
    pending: async () => await send() === 200 ? "" : "images are refused",
    verify: async () => {
      assertEquals(refused, []);
      for (const url of urls) {
        const served = await fetch(app.url + new URL(url).pathname);
        assertEquals([url, served.status], [url, 200]);
        await served.body?.cancel();
      }
      const named = product(
        stage.name("pictured"),
        `<images><image>${urls[0]}</image></images>`,
      );
      assertEquals((await app.upload(named)).status, 200);
    },
  };
}

/** Downloads whose answers arrive during the fault. */
async function imagesInFlight(stage: Stage): Promise<Activity> {
  const held = new HeldImages(stage, IMAGES);
  const uploaded = await upload(stage, held.urls);
  await until(() => held.inFlight === IMAGES, "images in flight");
  return { midway: held.release, ...imagesOf(stage, uploaded, 1) };
}

/**
 * The first attempt has failed, and the next one falls due during the fault.
 */
async function imagesWaiting(stage: Stage): Promise<Activity> {
  const urls = Array.from(
    { length: IMAGES },
    () => `${stage.images.url}/flaky/${stage.name("w")}.png`,
  );
  const uploaded = await upload(stage, urls);
  await until(async () => {
    const { text } = await status(stage, uploaded);
    return text.split("<attempts>1<").length - 1 === IMAGES;
  }, "the first attempts");
  return imagesOf(stage, uploaded, 2);
}

async function deliveries(stage: Stage): Promise<Activity> {
  const { app, sink } = stage;
  const { open, opened } = gate();
  const path = `/${stage.name("hook")}`;
  const answering = sink.answering;
  sink.answering = async (received, count) => {
    if (received.path !== path) return await answering(received, count);
    await opened;
    return new Response();
  };
  await register(stage, path);
  const ids: string[] = [];
  for (let n = 0; n < EVENTS; n++) ids.push(await emit(stage));
  await until(() => sink.at(path).length === EVENTS, "deliveries in flight");
  return {
    midway: open,
    pending: async () => {
      const rows = await deliveryRows(stage, ids);
      const left = rows.filter(({ state }) => state !== "delivered");
      return left.length === 0 ? "" : `${left.length} deliveries`;
    },
    verify: async () => {
      const rows = await deliveryRows(stage, ids);
      assertEquals(rows.map(({ failures }) => failures), ids.map(() => 0));
      const { xml } = await app.call("/seller_api/webhooks");
      assertEquals(child(xml, "webhook").children.map(({ name }) => name), [
        "trigger",
        "url",
      ], "a webhook that does not fail");
    },
  };
}

async function eventStream(stage: Stage): Promise<Activity> {
  const held = new HeldImages(stage, 1);
  const uploaded = await upload(stage, held.urls);
  await until(() => held.inFlight === 1, "the image in flight");
  const disconnect = new AbortController();
  const response = await fetch(
    stage.app.url + statusPath(uploaded),
    {
      headers: { "x-service-auth": stage.app.key, accept: "text/event-stream" },
      signal: disconnect.signal,
    },
  );
  let text = "";
  let over = false;
  const reading = (async () => {
    const decoder = new TextDecoderStream() as TransformStream<
      Uint8Array,
      string
    >;
    for await (const piece of response.body!.pipeThrough(decoder)) {
      text += piece;
    }
  })().catch(() => {}).finally(() => over = true);
  return {
    midway: held.release,
    pending: () => Promise.resolve(over ? "" : "the stream goes on"),
    verify: async () => {
      disconnect.abort();
      await reading;
      assert(text.includes("event: final"), `no final event: ${text}`);
      assert(text.includes("<status>completed</status>"), text);
    },
  };
}

/** More products than one part has. */
const IMPORTED = 251;

/** The fault meets its check or its parts; each product is stored once. */
async function importing(stage: Stage): Promise<Activity> {
  const { app } = stage;
  const prefix = stage.name("imported");
  const products = Array.from(
    { length: IMPORTED },
    (_, n) => product(`${prefix}-${n}`),
  );
  const begun = await app.call("/seller_api/imports", {
    method: "POST",
    body: `<products>${products.join("")}</products>`,
  });
  assertEquals(begun.status, 200, begun.text);
  const path = `/seller_api/imports/${textAt(begun.xml, "import_id")}`;
  return {
    pending: async () => {
      const { text } = await app.call(path);
      return text.includes("<finished_at>") ? "" : text;
    },
    verify: async () => {
      const { xml, text } = await app.call(path);
      assertEquals(textAt(xml, "import/status"), "completed", text);
      assertEquals(textAt(xml, "import/products/created"), `${IMPORTED}`);
    },
  };
}

/** The fastest clock until a mail is due. */
const MAIL_SPEED = 20;

/** A mail that its server accepts in the middle of the fault. */
async function mailInFlight(stage: Stage): Promise<Activity> {
  const { app, mailing, mail, operator } = stage;
  const name = stage.name("told");
  const address = `${name}@mail.example`;
  const key = await app.addSeller(name);
  const { open, opened } = gate();
  const isHeld = Promise.withResolvers<void>();
  const { onData } = mailing;
  mailing.onData = async (received, count) => {
    if (received.to !== address) return await onData(received, count);
    isHeld.resolve();
    await opened;
    return null;
  };
  for (const path of [`email/${address}`, "product_limit/1"]) {
    const { status, text } = await app.call(
      `/operator_api/sellers/${name}/attribute/${path}`,
      { method: "PUT", key: OPERATOR },
    );
    assertEquals(status, 204, text);
  }
  const { status } = await app.call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    key,
    body: `<products>${product("A")}</products>`,
  });
  assertEquals(status, 200);
  stage.clock.speed = MAIL_SPEED;
  await isHeld.promise;
  stage.clock.speed = 1;
  const toOperator = () =>
    operator.received.filter(({ text }) => text.includes(`"${name}"`));
  return {
    midway: open,
    pending: async () => {
      const rows = await app.app.db.read((sql) =>
        sql.all<{ id: string }>(
          `SELECT notices.id FROM notices
             JOIN sellers ON sellers.seller_no = notices.seller_no
           WHERE sellers.name = ? AND told_at IS NULL`,
          [name],
        )
      );
      return rows.map(({ id }) => `the notice ${id}`).join(", ");
    },
    verify: () => {
      const mails = mail.received.filter(({ to }) => to === address);
      const ids = mails.map(({ headers }) => headers.get("message-id"));
      assertEquals(new Set(ids).size, 1, `${ids}`);
      const requests = toOperator().map(({ headers }) =>
        headers.get("webhook-id")
      );
      assertEquals(new Set(requests).size, 1, `${requests}`);
      mailing.onData = onData;
      return Promise.resolve();
    },
  };
}

/** Made during the fault: it is complete, or refused. */
function backup(stage: Stage): Promise<Activity> {
  const files: string[] = [];
  const take = async () => {
    const file = `${stage.dataDir}/${stage.name("backup")}.db`;
    await stage.app.app.db.backup(file);
    files.push(file);
  };
  let during: Promise<void> = Promise.resolve();
  let after: Promise<void> | null = null;
  return Promise.resolve({
    midway: () => {
      during = take().catch(() => {});
    },
    stop: () => during,
    pending: async () => {
      try {
        await (after ??= take());
        return "";
      } catch (error) {
        after = null;
        return `no backup: ${error}`;
      }
    },
    verify: async () => {
      for (const file of files) {
        using database = new DatabaseSync(file, { readOnly: true });
        const check = database.prepare("PRAGMA integrity_check").get();
        assertEquals(check?.integrity_check, "ok");
        await Deno.remove(file);
      }
    },
  });
}

/** Images that a host serves only after the test lets it. */
export class HeldImages {
  readonly urls: string[];
  inFlight = 0;
  readonly release: () => void;

  constructor(stage: Stage, count: number) {
    const { open, opened } = gate();
    this.release = open;
    this.urls = Array.from({ length: count }, () => {
      const name = `${stage.name("held")}.png`;
      const path = `/held/${name}`;
      stage.images.answers.set(path, async ({ method }) => {
        const headers = { "content-type": "image/png" };
        if (method === "HEAD") return new Response(null, { headers });
        this.inFlight++;
        await opened;
        return new Response(picture(name), { headers });
      });
      return stage.images.url + path;
    });
  }
}

/** Uploads a product for each URL; returns the answer, which is 200. */
export async function upload(
  stage: Stage,
  urls: readonly string[],
): Promise<Answer> {
  const products = urls.map((url) =>
    product(stage.name("p"), `<images><image>${url}</image></images>`)
  );
  const answer = await stage.app.upload(products.join(""));
  assertEquals(answer.status, 200, answer.text);
  return answer;
}

function statusPath(uploaded: Answer): string {
  const id = textAt(uploaded.xml, "transaction_id");
  return `/seller_api/bulk_products/${id}`;
}

function status(stage: Stage, uploaded: Answer): Promise<Answer> {
  return stage.app.call(statusPath(uploaded));
}

/** All must be stored, with at most this many attempts. */
function imagesOf(
  stage: Stage,
  uploaded: Answer,
  attempts: number,
): Pick<Activity, "pending" | "verify"> {
  return {
    pending: async () => {
      const { text } = await status(stage, uploaded);
      if (text.includes("<finished_at/>")) {
        return text.match(/<images>.*?<\/images>/)?.[0] ?? "images";
      }
      return text.includes("<finished_at>") ? "" : text;
    },
    verify: async () => {
      const { xml } = await status(stage, uploaded);
      assertEquals(textAt(xml, "transaction/status"), "completed");
      const id = textAt(xml, "transaction/transaction_id");
      const most = await stage.app.app.db.read((sql) =>
        sql.get<{ n: number }>(
          `SELECT MAX(attempts) AS n FROM transaction_images
           WHERE transaction_id = ?`,
          [id],
        )
      );
      assert(most!.n <= attempts, `${most!.n} attempts were charged`);
    },
  };
}

export async function register(stage: Stage, path: string): Promise<void> {
  const answer = await stage.app.call("/seller_api/webhooks", {
    method: "POST",
    body: "<webhook><trigger>order_created</trigger>" +
      `<url>${stage.sink.url(path)}</url></webhook>`,
  });
  assertEquals(answer.status, 200, answer.text);
}

/** Sends an event; returns its id. */
export async function emit(stage: Stage): Promise<string> {
  const answer = await stage.app.call("/operator_api/events", {
    key: OPERATOR,
    method: "POST",
    body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
      `<reference>${stage.name("order")}</reference></event>`,
  });
  assertEquals(answer.status, 200, answer.text);
  return textAt(answer.xml, "event_id");
}

function deliveryRows(
  stage: Stage,
  ids: readonly string[],
): Promise<{ state: string; failures: number }[]> {
  return stage.app.app.db.read((sql) =>
    sql.all(
      `SELECT state, failures FROM deliveries
       WHERE event_id IN (${ids.map(() => "?").join(", ")})`,
      [...ids],
    )
  );
}
