/**
 * Images from a host on this machine to disk, hashed and recorded, by the
 * running service: from the POST to the final transaction, against
 * `curl --parallel` and `sha256sum`; and what attribute updates cost meanwhile.
 *
 *   deno run -A tests/bench/images.ts [rounds]      (needs curl)
 */
import { Connection } from "./load.ts";
import { BenchHost, BenchService, document } from "./service.ts";
import { quantile, Table } from "./table.ts";

const ROUNDS = Number(Deno.args[0] ?? 5);
const IMAGES = 2_000;
const PER_PRODUCT = 10;

const table = new Table();
let next = 0;

/** URLs that nobody has asked for before. */
function fresh(host: BenchHost, count: number): string[] {
  return Array.from({ length: count }, () => `${host.url}/${next++}.png`);
}

/** Milliseconds of curl and of sha256sum after it, on the service's disk. */
async function curl(urls: string[]): Promise<void> {
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
  table.note("curl --parallel", "ms", fetched - begun);
  table.note("sha256sum", "ms", hashed - fetched);
  table.note("curl and sha256sum", "ms", hashed - begun);
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

/** Uploads and waits for the end; answers the status. */
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

/** Milliseconds of attribute updates, one after the other, while `more`. */
async function updates(more: (n: number) => boolean): Promise<number[]> {
  const connection = await Connection.open(service.url);
  const times: number[] = [];
  for (let n = 0; more(n); n++) {
    const path = `products/p-0/attribute/quantity/${n}`;
    const request = service.request("beside", "PUT", path);
    const begun = performance.now();
    const status = await connection.send(request);
    if (status !== 204) throw new Error(connection.answer);
    times.push(performance.now() - begun);
    await new Promise((done) => setTimeout(done, 2));
  }
  connection.close();
  return times;
}

async function latency(round: number): Promise<void> {
  const idle = await updates((n) => n < 500);
  const id = await upload(`l${round}`, fresh(host, IMAGES));
  let busy = true;
  const end = final(id, IMAGES).finally(() => busy = false);
  const loaded = await updates(() => busy);
  await end;
  const p99 = (times: number[]) => quantile(times, 0.99);
  table.note("attribute update, idle: p99", "ms", p99(idle));
  table.note("attribute update during downloads: p99", "ms", p99(loaded));
  table.note("its ratio", "×", p99(loaded) / p99(idle));
}

await using service = await BenchService.start({
  roles: "api,images",
  sellers: ["acme", "beside"],
});
await using host = await BenchHost.start();
await service.ask(
  service.upload("beside", document("p", { products: 1, bytes: 0 })),
);
await untilFinal("warm", fresh(host, 500));
for (let round = 0; round < ROUNDS; round++) {
  await curl(fresh(host, IMAGES));
  await timed("2,000 images", `a${round}`, fresh(host, IMAGES));
  await timed("1,000 images", `b${round}`, fresh(host, 1_000));
  await latency(round);
}
table.note("memory after all of it", "MiB", await service.memoryMiB());
table.print();
const ratio = table.median("2,000 images, commit until final") /
  table.median("curl and sha256sum");
console.log(`service / (curl + sha256sum): ${ratio.toFixed(2)}`);
await table.keep("images");
