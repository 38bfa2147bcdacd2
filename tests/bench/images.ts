/**
 * The running service downloads images from a host on this machine to disk,
 * hashes and records them: from the POST to the final transaction, compared
 * with `curl --parallel` and `sha256sum`. Also the cost of attribute updates
 * meanwhile, compared with a bare server that commits one row while curl runs.
 *
 * deno run -A tests/bench/images.ts [rounds] (needs curl)
 */
import { Connection, requestBytes } from "./load.ts";
import { BenchHost, BenchService, document } from "./service.ts";
import { quantile, Table } from "./table.ts";

const ROUNDS = Number(Deno.args[0] ?? 5);
const IMAGES = 2_000;
const PER_PRODUCT = 10;

const table = new Table();
let next = 0;

/** URLs that nobody has requested before. */
function fresh(host: BenchHost, count: number): string[] {
  return Array.from({ length: count }, () => `${host.url}/${next++}.png`);
}

interface Curl {
  fetching: number;
  hashing: number;
}

/** Milliseconds of curl and then sha256sum, on the service's disk. */
async function curl(urls: string[]): Promise<Curl> {
  const folder = await Deno.makeTempDir({ dir: service.folder });
  const list = urls.map((url, n) =>
    `url = "${url}"\noutput = "${folder}/${n}"`
  );
  await Deno.writeTextFile(`${folder}/list`, list.join("\n"));
  const begun = performance.now();
  const config = `${folder}/list`;
  await run("curl", "-s", "--parallel", "--parallel-max", "64", "-K", config);
  const fetched = performance.now();
  await run("sh", "-c", `sha256sum ${folder}/[0-9]* > ${folder}/sums`);
  const hashed = performance.now();
  return { fetching: fetched - begun, hashing: hashed - fetched };
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(command, { args }).output();
  if (!success) throw new Error(`${command} failed`);
}

function productsWith(prefix: string, urls: string[]): Uint8Array {
  return document(prefix, {
    products: urls.length / PER_PRODUCT,
    bytes: 0,
    images: (n) => urls.slice(n * PER_PRODUCT, (n + 1) * PER_PRODUCT),
  });
}

/** Uploads and waits for the end; returns the status. */
async function untilFinal(prefix: string, urls: string[]): Promise<string> {
  return await final(await upload(prefix, urls), urls.length);
}

function upload(prefix: string, urls: string[]): Promise<string> {
  return service.transactionOf("acme", productsWith(prefix, urls));
}

async function final(id: string, images: number): Promise<string> {
  for (;;) {
    const path = `bulk_products/${id}?wait=30`;
    const answer = await service.ask(service.request("acme", "GET", path));
    if (!/<status>completed/.test(answer)) continue;
    const stored = Number(/<stored>(\d+)</.exec(answer)?.[1]);
    if (stored !== images) throw new Error(answer.slice(0, 2_000));
    return answer;
  }
}

async function timed(
  name: string,
  prefix: string,
  urls: string[],
): Promise<void> {
  const begun = performance.now();
  const answer = await untilFinal(prefix, urls);
  table.note(`${name}, POST until final`, "ms", performance.now() - begun);
  const at = (element: string) =>
    Date.parse(new RegExp(`<${element}>(.*?)<`).exec(answer)![1]);
  const recorded = at("finished_at") - at("created_at");
  table.note(`${name}, commit until final`, "ms", recorded);
}

/** The n-th request: to whom, and for what. */
interface Asked {
  url: string;
  request: (n: number) => Uint8Array;
}

/** Milliseconds of requests, one after the other, while `more` is true. */
async function requests(
  { url, request }: Asked,
  more: (n: number) => boolean,
): Promise<number[]> {
  const connection = await Connection.open(url);
  const times: number[] = [];
  for (let n = 0; more(n); n++) {
    const bytes = request(n);
    const begun = performance.now();
    const status = await connection.send(bytes);
    if (status !== 204) throw new Error(connection.answer);
    times.push(performance.now() - begun);
    await new Promise((done) => setTimeout(done, 2));
  }
  connection.close();
  return times;
}

/**
 * The p99 of these requests alone, and during what `begin` starts: it returns a
 * function that waits for its end.
 */
async function latency(
  name: string,
  asked: Asked,
  begin: () => Promise<() => Promise<unknown>>,
): Promise<void> {
  const idle = quantile(await requests(asked, (n) => n < 500), 0.99);
  const ended = await begin();
  let busy = true;
  const end = ended().finally(() => busy = false);
  const loaded = quantile(await requests(asked, () => busy), 0.99);
  await end;
  table.note(`${name}, idle: p99`, "ms", idle);
  table.note(`${name} during downloads: p99`, "ms", loaded);
  table.note(`${name}: ratio of these`, "×", loaded / idle);
}

await using service = await BenchService.start({
  roles: "api,images",
  sellers: ["acme", "beside"],
});
await using host = await BenchHost.start();
await using bare = await BenchHost.startBare(`${service.folder}/bare.db`);
const update: Asked = {
  url: service.url,
  request: (n) =>
    service.request("beside", "PUT", `products/p-0/attribute/quantity/${n}`),
};
const bareCommit: Asked = {
  url: bare.url,
  request: () => requestBytes("PUT", "/", {}),
};
await service.ask(
  service.upload("beside", document("p", { products: 1, bytes: 0 })),
);
await untilFinal("warm", fresh(host, 500));
for (let round = 0; round < ROUNDS; round++) {
  const { fetching, hashing } = await curl(fresh(host, IMAGES));
  table.note("curl --parallel", "ms", fetching);
  table.note("sha256sum", "ms", hashing);
  table.note("curl and sha256sum", "ms", fetching + hashing);
  await timed("2,000 images", `a${round}`, fresh(host, IMAGES));
  await timed("1,000 images", `b${round}`, fresh(host, 1_000));
  await latency("bare commit", bareCommit, () => {
    const urls = fresh(host, IMAGES);
    return Promise.resolve(() => curl(urls));
  });
  await latency("attribute update", update, async () => {
    const id = await upload(`l${round}`, fresh(host, IMAGES));
    return () => final(id, IMAGES);
  });
}
table.note("memory after all of it", "MiB", await service.memoryMiB());
table.print();
const ratio = table.median("2,000 images, commit until final") /
  table.median("curl and sha256sum");
console.log(`service / (curl + sha256sum): ${ratio.toFixed(2)}`);
await table.keep("images");
