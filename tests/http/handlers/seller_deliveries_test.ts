/** Operators see the deliveries of a seller. */
import { assertEquals } from "@std/assert";
import {
  type Answer,
  boot,
  child,
  detailsOf,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { until } from "../../support/clock.ts";
import { WebhookSink } from "../../support/webhook_sink.ts";
import { contract } from "../../support/forms.ts";

const PATH = "/operator_api/sellers/acme/deliveries";
const key = "op";

/** Trigger, reference and state of each delivery, the newest first. */
function shown(answer: Answer): string[] {
  assertEquals(answer.status, 200, answer.text);
  return child(answer.xml, "deliveries").children.map((delivery) =>
    ["trigger", "reference", "state"].map((name) => textAt(delivery, name))
      .join(" ")
  );
}

async function register(app: TestApp, trigger: string, url: string) {
  const body =
    `<webhook><trigger>${trigger}</trigger><url>${url}</url></webhook>`;
  await app.call("/seller_api/webhooks", { method: "POST", body });
}

async function emit(app: TestApp, trigger: string, reference: string) {
  const body = `<event><seller>acme</seller><trigger>${trigger}</trigger>` +
    `<reference>${reference}</reference><data/></event>`;
  const path = "/operator_api/events";
  const { status } = await app.call(path, { method: "POST", key, body });
  assertEquals(status, 200);
}

contract.test("an operator lists a seller's deliveries, by state and trigger, page by page", async () => {
  await using sink = new WebhookSink();
  await using app = await boot({
    config: { operatorKey: key, roles: ["api", "webhooks"] },
  });
  sink.answering = ({ path }) =>
    new Response(null, { status: path === "/gone" ? 410 : 200 });
  await register(app, "order_created", sink.url());
  await register(app, "order_paid", sink.url("/gone"));
  const list = (query = "") => app.call(`${PATH}${query}`, { key });
  await emit(app, "order_created", "1");
  await emit(app, "order_paid", "2");
  await emit(app, "order_created", "3");
  const all = [
    "order_created 3 delivered",
    "order_paid 2 held",
    "order_created 1 delivered",
  ];
  await until(async () => shown(await list()).join() === all.join());

  assertEquals(shown(await list("?state=held")), [all[1]]);
  assertEquals(shown(await list("?state=exhausted")), []);
  assertEquals(shown(await list("?trigger=order_created")), [all[0], all[2]]);
  assertEquals(shown(await list("?trigger=order_paid&state=delivered")), []);
  for (const filter of ["", "&trigger=order_created", "&state=delivered"]) {
    const first = await list(`?limit=1${filter}`);
    assertEquals(shown(first), [all[0]]);
    const next = textAt(first.xml, "next");
    const rest = await list(`?after=${next}${filter}`);
    assertEquals(shown(rest), filter === "" ? all.slice(1) : [all[2]]);
    assertEquals(rest.text.includes("<next>"), false);
  }
  const [held] = child((await list("?state=held")).xml, "deliveries").children;
  assertEquals(textAt(held, "attempts/attempt/status"), "410");
  assertEquals(textAt(held, "attempts/attempt/url"), sink.url("/gone"));
  assertEquals(textAt(held, "settled_at").slice(0, 2), "20");

  const refused = await list("?state=lost&trigger=none&after=x&limit=0");
  assertEquals(refused.status, 422);
  assertEquals(detailsOf(refused).map(({ field, code }) => [field, code]), [
    ["trigger", "not_in_list"],
    ["state", "not_in_list"],
    ["after", "not_allowed"],
    ["limit", "out_of_range"],
  ]);
  assertEquals((await list("?stat=held")).status, 400);
  const path = PATH.replace("acme", "nobody");
  assertEquals((await app.call(path, { key })).status, 404);
  assertEquals((await app.call(PATH)).status, 401);
  await app.addSeller("globex");
  const other = await app.call(PATH.replace("acme", "globex"), { key });
  assertEquals(shown(other), []);

  const own = await app.call("/seller_api/webhooks/order_created/deliveries");
  const shownIn = async (trigger: string, query: string) =>
    child(
      (await app.call(`/seller_api/webhooks/${trigger}/deliveries${query}`))
        .xml,
      "deliveries",
    ).children.map((delivery) => textAt(delivery, "state"));
  assertEquals(await shownIn("order_paid", "?state=held"), ["held"]);
  assertEquals(await shownIn("order_paid", "?state=delivered"), []);
  assertEquals(await shownIn("order_created", "?state=delivered"), [
    "delivered",
    "delivered",
  ]);
  const wrong = await app.call(
    "/seller_api/webhooks/order_paid/deliveries?state=lost&after=x",
  );
  assertEquals(detailsOf(wrong).map(({ field, message }) => [field, message]), [
    [
      "state",
      'state is "lost"; it must be one of pending, sending, retrying, ' +
      "delivered, exhausted, held, cancelled.",
    ],
    [
      "after",
      'after is "x"; it must be the <next> of an earlier page of this ' +
      "list; leave it out for the first page.",
    ],
  ]);
  const names = child(own.xml, "deliveries").children[0].children
    .map(({ name }) => name);
  assertEquals(names.at(-1), "attempts", "its path says the rest");
});
