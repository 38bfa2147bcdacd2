/**
 * Lengths count characters, and each engine accepts any number of bytes for
 * them.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { boot, product } from "../support/app.ts";
import { bothForms } from "../support/forms.ts";
import { ImageHost } from "../support/image_host.ts";
import { Random } from "../support/random.ts";

bothForms.test("an image's URL has 2,000 characters at most, whichever they are", async () => {
  await using app = await boot();
  await using host = new ImageHost();
  const random = new Random(1);
  // Random, so that it cannot be compressed.
  const path = Array.from(
    { length: 1_950 },
    () => String.fromCharCode(0x4e00 + random.below(0x5000)),
  ).join("");
  const url = `${host.url}/good/${path}.png`;
  for (const sku of ["A", "B"]) {
    const images = `<images><image>${url}</image></images>`;
    const uploaded = await app.upload(product(sku, images));
    assertEquals(uploaded.status, 200);
    const shown = await app.call(`/seller_api/products/${sku}`);
    assertStringIncludes(shown.text, path);
  }
});
