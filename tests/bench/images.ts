/**
 * 2,000 images of 100 KB from a host on this machine to disk, hashed, recorded,
 * against `curl --parallel` and `sha256sum`; and what attribute updates cost
 * meanwhile. Run with `deno run -A tests/bench/images.ts`; needs curl.
 */
import { ImageBench } from "../support/image_bench.ts";
import { boot } from "../support/app.ts";

const IMAGES = 2_000;
const BYTES = 100_000;
const ROUNDS = 3;

/** A host in a process of its own; prints its port. */
const HOST = `
const image = new Uint8Array(${BYTES});
image.set([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82]);
image.set([0, 0, 1, 0, 0, 0, 1, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0], 16);
image.set([0, 1, 134, 100, 73, 68, 65, 84], 33);
Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: ({ port }) => console.log(port) }, (request) => {
  const name = new URL(request.url).pathname;
  const headers = { "content-type": "image/png", "etag": '"' + name + '"' };
  if (request.method === "HEAD") return new Response(null, { headers });
  const body = image.slice();
  new DataView(body.buffer).setFloat64(100, Number(name.slice(1)));
  return new Response(body, { headers });
});`;

async function startHost(): Promise<{ url: string; stop: () => void }> {
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(file, HOST);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--allow-net", file],
    stdout: "piped",
  }).spawn();
  const { value } = await child.stdout.getReader().read();
  const port = new TextDecoder().decode(value).trim();
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      child.kill();
      Deno.removeSync(file);
    },
  };
}

/** Milliseconds of curl and of sha256sum after it. */
async function curl(url: string): Promise<[number, number]> {
  const folder = await Deno.makeTempDir({ dir: work });
  const list = Array.from(
    { length: IMAGES },
    (_, n) => `url = "${url}/${n}"\noutput = "${folder}/${n}.png"`,
  );
  await Deno.writeTextFile(`${folder}/list`, list.join("\n"));
  const begun = performance.now();
  await run("curl", [
    "--silent",
    "--parallel",
    "--parallel-max",
    "64",
    "--config",
    `${folder}/list`,
  ]);
  const fetched = performance.now();
  await run("sh", ["-c", `sha256sum ${folder}/*.png > ${folder}/sums`]);
  const hashed = performance.now();
  return [fetched - begun, hashed - fetched];
}

async function run(command: string, args: string[]): Promise<void> {
  const { success } = await new Deno.Command(command, { args }).output();
  if (!success) throw new Error(`${command} failed`);
}

/** Milliseconds from the commit of the upload to its end. */
async function service(url: string): Promise<number> {
  const bench = new ImageBench({
    config: { dataDir: await Deno.makeTempDir({ dir: work }) },
  });
  const role = bench.startRole();
  while (!role.healthy()) await pause(5);
  const begun = performance.now();
  const id = await bench.upload(
    Array.from({ length: IMAGES }, (_, n) => `${url}/${n}`),
  );
  for (;;) {
    const since = bench.signals.progress.count;
    const { finished, stored } = await bench.counts(id);
    if (finished && stored !== IMAGES) throw new Error(`${stored} stored`);
    if (finished) {
      const ms = performance.now() - begun;
      await bench.close();
      return ms;
    }
    await bench.signals.progress.wait(bench.deps.clock, 100, {
      key: id,
      since,
    });
  }
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Attribute updates one after the other; the 99th percentile of their ms. */
async function p99(
  put: (n: number) => Promise<void>,
  more: (n: number) => boolean,
): Promise<number> {
  const times: number[] = [];
  for (let n = 0; more(n); n++) {
    const begun = performance.now();
    await put(n);
    times.push(performance.now() - begun);
    await pause(2);
  }
  times.sort((a, b) => a - b);
  console.log(
    `    ${times.length} updates, median ${
      times[times.length >> 1].toFixed(1)
    } ms, 99th ${times[Math.floor(times.length * 0.99)].toFixed(1)} ms`,
  );
  return times[Math.floor(times.length * 0.99)];
}

async function latency(url: string): Promise<void> {
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const product = (sku: string, images: string) =>
    `<product><sku>${sku}</sku><title>t</title><price currency="SEK">1</price>` +
    `<quantity>1</quantity>${images}</product>`;
  await app.upload(product("p", ""));
  const put = async (n: number) => {
    const path = `/seller_api/products/p/attribute/quantity/${n}`;
    const { status } = await app.call(path, { method: "PUT" });
    if (status !== 204) throw new Error(String(status));
  };
  await p99(put, (n) => n < 200);
  console.log("  attribute updates, idle:");
  const idle = await p99(put, (n) => n < 500);
  const products = Array.from({ length: IMAGES / 10 }, (_, n) => {
    const images = Array.from(
      { length: 10 },
      (_, m) => `<image>${url}/${n * 10 + m}</image>`,
    );
    return product(`i${n}`, `<images>${images.join("")}</images>`);
  });
  const uploaded = await app.upload(products.join(""));
  let busy = true;
  const end = app.status(uploaded, "?wait=30").then(() => busy = false);
  console.log("  while the images arrive:");
  const loaded = await p99(put, () => busy);
  await end;
  console.log(`  ratio of the 99th percentiles: ${(loaded / idle).toFixed(2)}`);
}

// Everything is removed at the end: ext4 is slow to make files for some seconds
// after others were removed.
const work = await Deno.makeTempDir();
const host = await startHost();
try {
  for (let round = 0; round < ROUNDS; round++) {
    const [fetched, hashed] = await curl(host.url);
    const all = await service(host.url);
    console.log(
      `round ${round + 1}: curl ${fetched.toFixed(0)} ms + sha256sum ` +
        `${hashed.toFixed(0)} ms = ${(fetched + hashed).toFixed(0)} ms; ` +
        `the service ${all.toFixed(0)} ms`,
    );
  }
  await latency(host.url);
} finally {
  host.stop();
  await Deno.remove(work, { recursive: true });
}
