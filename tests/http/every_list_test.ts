/**
 * Every GET route, with each value of each query parameter and with a cursor,
 * on every engine.
 */
import { assert, assertEquals } from "@std/assert";
import type { Parameter } from "../../src/contracts/endpoint.ts";
import {
  CONTACT_EXAMPLE,
  MAPPING_EXAMPLE,
} from "../../src/contracts/examples.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { type Answer, boot, product, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";

const READING = ROUTES.filter(({ method, access, documentation }) =>
  method === "GET" && documentation !== null &&
  (access === "seller" || access === "operator")
);

/** The ids that routes need. */
type Ids = Record<string, string>;

/** Values of parameters whose schema does not list all values. */
const VALUES: Record<string, readonly string[]> = {
  gtin: ["4006381333931"],
  id: ["01a1f8a9-48dd-7dda-af68-77c9d5d897a7"],
  limit: ["1", "250"],
  q: ["A", "01a1f8a9-48dd-7dda-af68-77c9d5d897a7", "%", "nothing has this"],
  reference: ["1", "absent"],
  route: ["POST /seller_api/bulk_products"],
  seller: ["acme"],
  wait: ["0"],
  who: ["environment", "nobody"],
  since: ["2020-01-01", "2100-01-01"],
  until: ["2020-01-01", "2100-01-01"],
  updated_since: ["2020-01-01", "2100-01-01"],
};

/** A cursor for each list that only continues when it is long. */
const LONG: Record<string, string> = {
  getTransaction: "1",
  getRejectedProducts: "1700000000000-01a1f8a9-48dd-7dda-af68-77c9d5d897a7",
  getHistory: "5-1700000000000",
};

function valuesOf({ name, schema }: Parameter): readonly string[] {
  const values = VALUES[name] ?? schema?.enum;
  if (!Array.isArray(values)) throw new Error(`say what ${name} may be`);
  return values;
}

/**
 * Each value alone, with the required parameters; then the first value of every
 * parameter.
 */
function queriesOf(parameters: readonly Parameter[]): URLSearchParams[] {
  const filters = parameters.filter((parameter) =>
    parameter.in !== "header" && parameter.name !== "after"
  );
  const required = filters.filter(({ required }) => required === true)
    .map((parameter) => [parameter.name, valuesOf(parameter)[0]]);
  const single = filters.flatMap((parameter) =>
    valuesOf(parameter).map((value) => [[parameter.name, value]])
  );
  const all = filters.map((each) => [each.name, valuesOf(each)[0]]);
  return [[], ...single, all].map((some) =>
    new URLSearchParams(Object.fromEntries([...required, ...some]))
  );
}

/** Gives every list of the seller two entries. */
async function fill(app: TestApp): Promise<Ids> {
  const idIn = ({ text, status }: Answer, name: string) => {
    assertEquals(status, 200, text);
    return new RegExp(`<${name}>([^<]+)`).exec(text)![1];
  };
  const post = (path: string, body?: string) =>
    app.call(`/seller_api/${path}`, { method: "POST", body });
  const operate = async (method: string, path: string, body?: string) => {
    const target = `/operator_api/${path}`;
    const answer = await app.call(target, { method, key: "op", body });
    assert(answer.status < 300, answer.text);
    return answer;
  };
  await operate("POST", "sellers", "<seller><name>other</name></seller>");
  await operate("PUT", "sellers/acme/attribute/review/new");
  const coded = "<gtin>4006381333931</gtin>";
  const products = product("A", coded) + product("B", coded);
  const uploaded = await app.upload(`${products}<product/>`, "&accept=valid");
  await app.upload(product("A", `<brand>new</brand>${coded}`));
  const query = "?v=1.1&accept=valid";
  const document = `<products>${products}<product/></products>`;
  const imported = await post(`imports${query}`, document);
  await post(`imports${query}`, document);
  assertEquals((await app.upload("<product/>")).status, 422);
  assertEquals((await post("imports/x/undo")).status, 404);
  await app.call("/seller_api/refusals"); // writes the recorded refusals
  const hook = "<webhook><trigger>order_paid</trigger>" +
    "<url>http://127.0.0.1:1024/hook</url></webhook>";
  assertEquals((await post("webhooks", hook)).status, 200);
  for (const reference of ["1", "2"]) {
    await operate(
      "POST",
      "events",
      "<event><seller>acme</seller><trigger>order_paid</trigger>" +
        `<reference>${reference}</reference></event>`,
    );
  }
  const mapping = await app.call("/seller_api/mappings/prices", {
    method: "PUT",
    body: MAPPING_EXAMPLE,
  });
  assertEquals(mapping.status, 200, mapping.text);
  for (const name of ["prices", "second"]) {
    const contact = await app.call(`/seller_api/contacts/${name}`, {
      method: "PUT",
      body: CONTACT_EXAMPLE,
    });
    assertEquals(contact.status, 200, contact.text);
  }
  await operate(
    "PUT",
    "categories",
    '<categories><category name="A"/><category name="B"/></categories>',
  );
  const ids = {
    category: "A",
    transaction_id: idIn(uploaded, "transaction_id"),
    import_id: idIn(imported, "import_id"),
    sku_or_id: "A",
    trigger: "order_paid",
    name: "prices",
    seller: "acme",
  };
  const { text } = await app.call(
    `/seller_api/imports/${ids.import_id}?wait=30`,
  );
  assert(text.includes("<status>completed"), text);
  return ids;
}

bothEngines.test("each list answers with each of its parameters, and continues", async () => {
  await using app = await boot({
    config: { roles: ["api"], operatorKey: "op", rateLimit: 0 },
  });
  const ids = await fill(app);
  for (const { path, access, documentation } of READING) {
    const { operation, parameters = [] } = documentation!;
    const target = path.replace(
      /:(\w+)/g,
      (_, name) => ids[name] ?? assert(false, `${path} names ${name}`),
    );
    const read = async (query: URLSearchParams) => {
      const asked = `${target}?${query}`;
      const key = access === "operator" ? "op" : app.key;
      const answer = await app.call(asked, { key });
      const { status, text } = answer;
      assertEquals(status, 200, `${asked}: ${text.slice(0, 500)}`);
      return /<next>([^<]+)<\/next><\/service>|<next>([^<]+)/.exec(text);
    };
    let isContinued = false;
    for (const query of queriesOf(parameters)) {
      const next = await read(query);
      if (next === null) continue;
      isContinued = true;
      query.set("after", next[1] ?? next[2]);
      await read(query);
    }
    if (!parameters.some(({ name }) => name === "after")) continue;
    const place = LONG[operation];
    assert(isContinued || place !== undefined, `${path} has one entry`);
    if (place === undefined) continue;
    const [query] = queriesOf(parameters);
    query.set("after", place);
    await read(query);
  }
});
