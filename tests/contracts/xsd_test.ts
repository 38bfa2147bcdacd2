/** The schemas are valid XML Schema 1.0 for other implementations. */
import { assert, assertEquals } from "@std/assert";
import {
  attributesSchema,
  productsSchema,
  responsesSchema,
} from "../../src/contracts/xsd.ts";
import {
  ANSWER_EXAMPLES,
  ATTRIBUTES_EXAMPLE,
  PRODUCTS_EXAMPLE,
} from "../../src/contracts/examples.ts";
import { QUICK_JAVA } from "../support/compiled.ts";
import { temporaryFolder } from "../support/process.ts";

const VALIDATE = new URL("Validate.java", import.meta.url).pathname;

/** The output of a program; null if it is not installed. */
async function run(
  program: string,
  args: readonly string[],
): Promise<string | null> {
  try {
    const { stdout, stderr } = await new Deno.Command(program, {
      args: [...args],
      stdin: "null",
    }).output();
    const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return decode(stdout) + decode(stderr);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

async function written(
  folder: string,
  texts: readonly string[],
): Promise<string[]> {
  const files = texts.map((_, at) => `${folder}/${at}.xml`);
  await Promise.all(
    texts.map((text, at) => Deno.writeTextFile(files[at], text)),
  );
  return files;
}

interface Case {
  schema: string;
  good: readonly string[];
  bad: readonly string[];
}

const CASES: readonly Case[] = [
  {
    schema: productsSchema(),
    good: [PRODUCTS_EXAMPLE],
    bad: [PRODUCTS_EXAMPLE.replaceAll("sku>", "skuu>"), "<product/>"],
  },
  {
    schema: attributesSchema(),
    good: [
      ATTRIBUTES_EXAMPLE,
      ATTRIBUTES_EXAMPLE
        .replace('"SEK">', '"SEK" expected="159.00">')
        .replace("<quantity>", '<quantity expected="9">'),
    ],
    bad: [
      PRODUCTS_EXAMPLE,
      ATTRIBUTES_EXAMPLE.replace("<sku>", '<sku expected="MUG-1">'),
    ],
  },
  {
    schema: responsesSchema(),
    good: Object.values(ANSWER_EXAMPLES),
    bad: ["<service><next>x</next></service>", "<service>x</service>"],
  },
];

Deno.test("Xerces accepts the schemas and every example, and refuses invalid documents", async () => {
  for (const { schema, good, bad } of CASES) {
    await using folder = await temporaryFolder();
    const files = await written(folder.path, [schema, ...good, ...bad]);
    const output = await run("java", [...QUICK_JAVA, VALIDATE, ...files]);
    if (output === null) return console.log("not tried: there is no JDK");
    const lines = output.trim().split("\n");
    assertEquals(lines.slice(0, 1 + good.length).filter((l) => l !== "ok"), []);
    assertEquals(lines.length, files.length, output);
    for (const line of lines.slice(1 + good.length)) assert(line !== "ok");
  }
});

Deno.test("xmllint accepts the schemas and every example, and refuses invalid documents", async () => {
  for (const { schema, good, bad } of CASES) {
    await using folder = await temporaryFolder();
    const files = await written(folder.path, [schema, ...good, ...bad]);
    const [xsd, ...documents] = files;
    const output = await run("xmllint", [
      "--noout",
      "--nonet",
      "--schema",
      xsd,
      ...documents,
    ]);
    if (output === null) return console.log("not tried: there is no xmllint");
    const valid = documents.filter((file) =>
      output.includes(`${file} validates\n`)
    );
    assertEquals(valid, documents.slice(0, good.length), output);
  }
});
