/**
 * Uploads by a list of 10,000 categories beside uploads without one: of two
 * services in turn the same documents, with the processor time of each.
 *
 *     deno run -A tests/bench/categories.ts [rounds]
 */
import { CATEGORIES_LIMIT } from "../../src/categories/document.ts";
import { load, requestBytes } from "./load.ts";
import { BenchService, document, OPERATOR_KEY } from "./service.ts";
import { median, Table } from "./table.ts";

const ROUNDS = Number(Deno.args[0] ?? 20);
/** Uploads in a row. */
const UPLOADS = 8;
const table = new Table();

/** The category of the documents has eleven rules, one with 1,000 values. */
function list(): Uint8Array {
  const colours =
    Array.from({ length: 999 }, (_, n) => `<value>Colour ${n}</value>`).join(
      "",
    ) + "<value>Oak</value>";
  const rules = `<rule attribute="color" required="true">${colours}</rule>` +
    '<rule field="gtin" required="true"/>' +
    '<rule field="brand" required="true" from="2999-01-01"/>' +
    Array.from(
      { length: 8 },
      (_, n) => `<rule attribute="a${n}"><value>x</value></rule>`,
    ).join("");
  const others = Array.from(
    { length: CATEGORIES_LIMIT - 1 },
    (_, n) =>
      `<category name="Other > ${n}"><rule field="gtin"
      required="true"/></category>`,
  );
  return new TextEncoder().encode(
    `<categories closed="true"><category name="Home > Chairs">${rules}` +
      `</category>${others.join("")}</categories>`,
  );
}

const start = () => BenchService.start({ roles: "api", sellers: ["bench"] });
await using without = await start();
await using withList = await start();
const put = (service: BenchService, body: Uint8Array) =>
  service.ask(requestBytes("PUT", "/operator_api/categories", {
    "X-Service-Auth": OPERATOR_KEY,
    "Content-Type": "text/xml",
  }, body));
// Both have read one, so that their heaps are alike.
for (const service of [without, withList]) await put(service, list());
await put(without, new TextEncoder().encode("<categories/>"));

const SERVICES: [name: string, service: BenchService][] = [
  ["without a list", without],
  ["by a list of 10,000", withList],
];
const used: Record<string, number[]> = {};
for (let round = -3; round < ROUNDS; round++) {
  const bodies = Array.from(
    { length: UPLOADS },
    (_, n) => document(`r${round}-${n}`),
  );
  for (const [name, service] of round % 2 ? SERVICES : SERVICES.toReversed()) {
    const requests = bodies.map((body) => service.upload("bench", body));
    const before = await service.cpuSeconds();
    const { p50 } = await load({
      url: service.url,
      connections: 1,
      count: UPLOADS,
      request: (n) => requests[n],
      expect: 200,
    });
    const cpu = (await service.cpuSeconds() - before) * 1_000 / UPLOADS;
    if (round < 0) continue;
    table.note(`250 new products ${name}: each`, "ms", p50);
    table.note(`250 new products ${name}: processor`, "ms", cpu);
    (used[name] ??= []).push(cpu);
  }
}
const [one, other] = SERVICES.map(([name]) => median(used[name]));
table.note("processor time by a list / without", "x", other / one);
table.print();
if (ROUNDS >= 20) await table.keep("categories");
