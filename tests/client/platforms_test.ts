/** The client on the platforms of its users: bundled, and in Node. */
import { assert, assertEquals } from "@std/assert";
import { boot } from "../support/app.ts";
import { temporaryFolder } from "../support/process.ts";

/** A file that the handbook offers, after the build. */
function builtFile(name: "client.js" | "client.d.ts"): string {
  return Deno.readTextFileSync(
    new URL(`../../src/client/dist/${name}`, import.meta.url),
  );
}

async function run(
  program: string,
  ...args: string[]
): Promise<{ success: boolean; stdout: string; stderr: string }> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args })
    .output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { success, stdout: text(stdout), stderr: text(stderr) };
}

async function hasNode(): Promise<boolean> {
  try {
    const { stdout } = await run("node", "--version");
    return Number(/^v(\d+)/.exec(stdout)?.[1]) >= 20;
  } catch {
    return false;
  }
}

Deno.test("the client is small and needs neither Deno nor Node", () => {
  const code = builtFile("client.js");
  assertEquals(/\bDeno\b|node:|\brequire\(|\bprocess\./.exec(code), null);
  assert(code.length < 64_000, `${code.length} bytes`);
  assertEquals(/^import|\bShape\b/m.exec(builtFile("client.d.ts")), null);
});

Deno.test({
  name: "the client runs in Node",
  ignore: !await hasNode(),
  async fn() {
    await using app = await boot({ config: { roles: ["api", "images"] } });
    await using folder = await temporaryFolder();
    const file = `${folder.path}/client.mjs`;
    await Deno.writeTextFile(file, builtFile("client.js"));
    await Deno.writeTextFile(
      `${folder.path}/main.mjs`,
      `import { createClient } from "${file}";
const client = createClient({ url: process.argv[2], key: process.argv[3] });
const products = Array.from({ length: 250 }, (_, i) => ({
  sku: \`S-\${i}\`, title: "Mug", description: "x".repeat(300), quantity: 1,
  price: { amount: "149.00", currency: "SEK" },
}));
const upload = await client.uploadProducts({ products });
const { status } = await client.waitFor(upload);
let count = 0;
for await (const { sku } of client.all.listProducts({ limit: 100 })) count++;
const error = await client.getProduct({ sku_or_id: "none" }).catch((e) => e);
console.log(status, count, error.code);
`,
    );
    const { stdout, stderr } = await run(
      "node",
      `${folder.path}/main.mjs`,
      app.url,
      app.key,
    );
    assertEquals(stdout, "completed 250 not_found\n", stderr);
  },
});
