/** The documents of the client are those of the interface. */
import "../support/built.ts";
import { assert, assertEquals } from "@std/assert";
import {
  type Client,
  type ClientOptions,
  createClient,
  createOperatorClient,
  type OperatorClient,
} from "../../src/client/mod.ts";
import { ENDPOINTS } from "../../src/http/routes.ts";
import {
  answerName,
  clientModules,
  storedModule,
} from "../contracts/written_client.ts";
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
  const lines = ENDPOINTS.flatMap((endpoint) => {
    const { answers } = endpoint;
    if (!Array.isArray(answers)) return [];
    return answers.map((answer, n) => {
      const type = answerName(endpoint, n);
      return `export const a${type}: client.${type} = ${exampleOf(answer)};`;
    });
  });
  await using folder = await temporaryFolder();
  const file = `${folder.path}/answers.ts`;
  const check = async (more: string) => {
    await Deno.writeTextFile(
      file,
      `import type * as client from "${CLIENT}";
export const error: { error: client.ServiceError } = ${exampleOf("error")};
${lines.join("\n")}\n${more}`,
    );
    return await run(Deno.execPath(), ["check", file], {});
  };
  const { success, text } = await check("");
  assert(success, text);
  const more = await check(
    "export const a: client.DeleteProductAnswer = {a: 1};",
  );
  assert(!more.success, "another member is taken");
});

/** What a call sends: the document and its type. */
async function sentBy(
  call: (client: Client, operator: OperatorClient) => Promise<unknown>,
) {
  const sent: [type: string | null, body: string][] = [];
  const options: ClientOptions = {
    key: "",
    fetch: async (_, { headers, body }) => {
      const type = new Headers(headers).get("Content-Type");
      sent.push([type, await new Response(body).text()]);
      return new Response("{}");
    },
  };
  await call(createClient(options), createOperatorClient(options));
  return sent[0];
}

Deno.test("an object is sent as JSON, an encoded document as it is", async () => {
  const json = "application/json";
  const products = [{ sku: "A", brand: null, title: undefined }];
  const name = "acme";
  const xml = "<products/>";
  for (
    const [call, ...expected] of [
      [
        (client: Client) => client.uploads.create({ products }),
        json,
        '{"products":[{"sku":"A","brand":null}]}',
      ],
      [
        (_: Client, operator: OperatorClient) =>
          operator.sellers.create({ seller: { name } }),
        json,
        '{"name":"acme"}',
      ],
      [
        (client: Client) => client.uploads.create({ products: xml }),
        "text/xml",
        xml,
      ],
      [
        (client: Client) =>
          client.uploads.create({ products: new Blob([xml]) }),
        "text/xml",
        xml,
      ],
      [
        (client: Client) =>
          client
            .uploads.create({ products: new Blob(["[]"], { type: json }) }),
        json,
        "[]",
      ],
    ] as const
  ) assertEquals(await sentBy(call), expected);
});
