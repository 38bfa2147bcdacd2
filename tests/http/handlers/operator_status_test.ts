/** The operator's status, and one seller of the list. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { boot, child, codeOf, product, textAt } from "../../support/app.ts";
import { Host } from "../../support/host.ts";
import { contract } from "../../support/forms.ts";

const OPERATOR = { key: "op" };
const CONFIG = { operatorKey: "op" };

contract.test("the list of sellers has one by its name or id", async () => {
  await using app = await boot({ config: CONFIG });
  await app.addSeller("other");
  await app.upload(product("A"));
  for (const seller of ["acme", app.sellerId]) {
    const path = `/operator_api/sellers?seller=${seller}`;
    const { xml } = await app.call(path, OPERATOR);
    const sellers = child(xml, "sellers").children;
    assertEquals(sellers.map((one) => textAt(one, "name")), ["acme"]);
    assertEquals(textAt(sellers[0], "products"), "1");
  }
  const none = await app.call("/operator_api/sellers?seller=acm", OPERATOR);
  assertEquals([none.status, codeOf(none)], [404, "not_found"]);
});

contract.test("the status has each queue and how long its oldest job has been due", async () => {
  await using host = new Host(() => new Response());
  // No process fetches the image.
  await using app = await boot({ config: { ...CONFIG, roles: ["api"] } });
  const queues = async () => {
    const { xml } = await app.call("/operator_api/status", OPERATOR);
    return child(xml, "queues").children.map((queue) =>
      queue.children.map(({ name, text }) => `${name} ${text}`).join(", ")
    );
  };
  assertEquals(await queues(), [
    "name images, waiting 0, in_progress 0, oldest_due_seconds 0",
    "name deliveries, waiting 0, in_progress 0, oldest_due_seconds 0",
    "name imports, waiting 0, in_progress 0",
    "name notices, waiting 0, in_progress 0, oldest_due_seconds 0",
    "name sales, waiting 0, in_progress 0, oldest_due_seconds 0",
  ]);
  const image = `<images><image>${host.url}/a.png</image></images>`;
  const uploaded = await app.upload(product("A", image));
  assertEquals(uploaded.status, 200, uploaded.text);
  const [images] = await queues();
  assertStringIncludes(images, "name images, waiting 1, in_progress 0");
});

contract.test("the status has how many products wait for a review", async () => {
  await using app = await boot({ config: CONFIG });
  const waiting = async () => {
    const { xml } = await app.call("/operator_api/status", OPERATOR);
    return textAt(xml, "backlog/pending_reviews");
  };
  await app.upload(product("OLD"));
  assertEquals(await waiting(), "0");
  await app.call("/operator_api/sellers/acme/attribute/review/new", {
    ...OPERATOR,
    method: "PUT",
  });
  await app.upload(product("A") + product("B"));
  assertEquals(await waiting(), "2");
});
