/** Names by which uploads and refused requests are found again. */
import { assertEquals } from "@std/assert";
import { boot, child, product, textAt } from "../../support/app.ts";
import { contract } from "../../support/forms.ts";

contract.test("an upload and its undo have the given name", async () => {
  await using app = await boot();
  const uploaded = await app.upload(product("A"), "&name=stock%20%C3%BC.xml");
  assertEquals(textAt(await app.status(uploaded), "name"), "stock ü.xml");
  const attributes = await app.call(
    "/seller_api/bulk_attributes?name=Prices",
    {
      method: "POST",
      body:
        `<products><product><sku>A</sku><quantity>1</quantity></product></products>`,
    },
  );
  const id = textAt(attributes.xml, "transaction_id");
  const path = `/seller_api/bulk_products/${id}/undo`;
  assertEquals((await app.call(path, { method: "POST" })).status, 200);
  await app.upload(product("B"));
  const list = await app.call("/seller_api/bulk_products");
  assertEquals(
    child(list.xml, "transactions").children.map((one) =>
      one.children.find(({ name }) => name === "name")?.text ?? "-"
    ),
    ["-", "Prices", "Prices", "stock ü.xml"],
  );
});

contract.test("a refusal has the name given to the request", async () => {
  await using app = await boot();
  await app.upload("<product/>", "&name=stock.xml");
  await app.upload("<product/>");
  const { xml } = await app.call("/seller_api/refusals");
  assertEquals(
    child(xml, "refusals").children.map((one) =>
      one.children.find(({ name }) => name === "name")?.text ?? "-"
    ),
    ["-", "stock.xml"],
  );
});
