/** Reading a long document takes long; other requests must not wait for it. */
import { assertEquals, assertGreater } from "@std/assert";
import { WINDOW } from "../../../src/xml/source.ts";
import { boot, product } from "../../support/app.ts";
import { bothForms, isInJson } from "../../support/forms.ts";
import { ImageHost } from "../../support/image_host.ts";

Deno.test("other requests are answered while long documents are read", async () => {
  await using app = await boot();
  const other = await app.addSeller("other");
  const order: string[] = [];
  const upload = async (name: string, windows: number, key = app.key) => {
    const body = `<products>${product(name)}${" ".repeat(windows * WINDOW)}`;
    const { status } = await app.call("/seller_api/bulk_products", {
      key,
      method: "POST",
      body: `${body}</products>`,
    });
    order.push(`${name} ${status}`);
  };
  const long = [upload("A", 60), upload("B", 60)];
  await upload("short", 0);
  await upload("another one's", 8, other);
  await Promise.all(long);
  assertEquals(order.slice(0, 2), ["short 200", "another one's 200"]);
  assertEquals(order.slice(2).sort(), ["A 200", "B 200"]);
});

bothForms.test("changes continue while an upload of 16 MiB is read", async () => {
  await using app = await boot();
  const key = await app.addSeller("other");
  const document = `<products>${product("A")}</products>`;
  const path = "/seller_api/bulk_products";
  await app.call(path, { key, method: "POST", body: document });
  // Longer than allowed, with escapes and literal characters.
  const text = '\n<b>"é"</b>'.repeat(4_000);
  const products = Array.from({ length: 250 }, (_, n) => `${n}`);
  const body = isInJson()
    ? JSON.stringify({
      products: products.map((sku) => ({ sku, title: "T", description: text })),
    })
    : `<products>${
      products.map((sku) =>
        product(sku, `<description><![CDATA[${text}]]></description>`)
      ).join("")
    }</products>`;
  let isOver = false;
  const upload = app.call(path, {
    method: "POST",
    body: new TextEncoder().encode(body),
    headers: {
      "Content-Type": isInJson() ? "application/json" : "text/xml",
    },
  }).finally(() => isOver = true);
  let changes = 0;
  while (!isOver) {
    const { status } = await app.call(
      `/seller_api/products/A/attribute/quantity/${changes % 100}`,
      { key, method: "PUT" },
    );
    assertEquals(status, 204);
    if (!isOver) changes++;
  }
  assertEquals((await upload).status, 422);
  // Read in one piece, the document would let one of them in.
  assertGreater(changes, 2);
});

/** Counts the bytes that are freed without a garbage collection. */
class Freed implements Disposable {
  bytes = 0;
  readonly #transfer = ArrayBuffer.prototype.transfer;

  constructor() {
    const count = (bytes: number) => this.bytes += bytes;
    const transfer = this.#transfer;
    ArrayBuffer.prototype.transfer = function (length) {
      if (length === 0) count(this.byteLength);
      return transfer.call(this, length);
    };
  }

  [Symbol.dispose](): void {
    ArrayBuffer.prototype.transfer = this.#transfer;
  }
}

const LENGTH = 1_000_000;
const long = (element: string) =>
  new TextEncoder().encode(
    `<products>${element}${" ".repeat(LENGTH)}</products>`,
  );

Deno.test("the bytes of a document are freed as soon as it is parsed", async () => {
  await using host = new ImageHost();
  await using app = await boot();
  using freed = new Freed();
  let freedAtHead = 0;
  host.answers.set("/own.png", () => {
    freedAtHead ||= freed.bytes;
    return new Response(null);
  });
  const image = `<images><image>${host.url}/own.png</image></images>`;
  const { status } = await app.upload(long(product("a", image)));
  assertEquals(status, 200);
  assertGreater(freedAtHead, LENGTH);
});

Deno.test("the bytes of a document that is not parsed are freed with its answer", async () => {
  await using app = await boot();
  using freed = new Freed();
  for (const query of ["&accept=none", "&accept=valid"]) {
    freed.bytes = 0;
    await app.upload(long(product("a")), query);
    assertGreater(freed.bytes, LENGTH);
  }
});
