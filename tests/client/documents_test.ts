/** The documents of the client are those of the interface. */
import "../support/built.ts";
import { assert, assertEquals } from "@std/assert";
import { type Client, createClient } from "../../src/client/mod.ts";
import { ENDPOINTS } from "../../src/http/routes.ts";
import { clientModules, storedModule } from "../contracts/written_client.ts";
import { run } from "../support/foreign.ts";
import { temporaryFolder } from "../support/process.ts";
import { exampleOf } from "./examples.ts";

const CLIENT = new URL("../../src/client/mod.ts", import.meta.url);

Deno.test("the client's operations are those of the service", async () => {
  for (const [name, text] of Object.entries(await clientModules())) {
    const isCurrent = text === await storedModule(name);
    assert(isCurrent, `src/client/${name}: run \`deno task client\``);
  }
});

Deno.test("the types have every field of the answers and no others", async () => {
  const lines = ENDPOINTS.flatMap(({ operation, answers }) => {
    if (!Array.isArray(answers)) return [];
    // The type of a method with two answers is that of the last one.
    const example = exampleOf(answers.at(-1)!);
    return [`export const ${operation}: Answer<"${operation}"> = ${example};`];
  });
  await using folder = await temporaryFolder();
  const file = `${folder.path}/answers.ts`;
  const check = async (more: string) => {
    await Deno.writeTextFile(
      file,
      `import type { Client, ServiceError } from "${CLIENT}";
type Answer<O extends keyof Client> = Client[O] extends
  (...given: never) => Promise<infer A> ? A : never;
export const error: { error: ServiceError } = ${exampleOf("error")};
${lines.join("\n")}\n${more}`,
    );
    return await run(Deno.execPath(), ["check", file], {});
  };
  const { success, text } = await check("");
  assert(success, text);
  const more = await check('export const a: Answer<"deleteProduct"> = {a: 1};');
  assert(!more.success, "another member is taken");
});

/** What a call sends: the document and its type. */
async function sentBy(call: (client: Client) => Promise<unknown>) {
  const sent: [type: string | null, body: string][] = [];
  const client = createClient({
    key: "",
    fetch: async (_, { headers, body }) => {
      const type = new Headers(headers).get("Content-Type");
      sent.push([type, await new Response(body).text()]);
      return new Response("{}");
    },
  });
  await call(client);
  return sent[0];
}

Deno.test("a document is sent as JSON, or in the format it has", async () => {
  const json = "application/json";
  const products = [{ sku: "A", brand: null, title: undefined }];
  const name = "acme";
  const xml = "<products/>";
  for (
    const [call, ...expected] of [
      [
        (client: Client) => client.uploadProducts({ products }),
        json,
        '{"products":[{"sku":"A","brand":null}]}',
      ],
      [
        (client: Client) => client.addSeller({ seller: { name } }),
        json,
        '{"name":"acme"}',
      ],
      [
        (client: Client) => client.uploadProducts({ products: xml }),
        "text/xml",
        xml,
      ],
      [
        (client: Client) =>
          client.uploadProducts({ products: new Blob([xml]) }),
        "text/xml",
        xml,
      ],
      [
        (client: Client) =>
          client
            .uploadProducts({ products: new Blob(["[]"], { type: json }) }),
        json,
        "[]",
      ],
    ] as const
  ) assertEquals(await sentBy(call), expected);
});
