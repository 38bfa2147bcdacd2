import { assert, assertEquals } from "@std/assert";
import { boot, child, textAt } from "../../support/app.ts";
import { contract } from "../../support/forms.ts";

const OPERATOR = "op";
const DATABASE = "/operator_api/database";

contract.test("an operator sees the servers of the database, and that of a seller", async () => {
  await using app = await boot({ config: { operatorKey: OPERATOR } });
  await app.addSeller("other");
  await app.upload("");
  const read = async (query: string) => {
    const answer = await app.call(DATABASE + query, { key: OPERATOR });
    assertEquals(answer.status, 200, answer.text);
    const database = child(answer.xml, "database");
    return { database, servers: child(database, "servers").children };
  };
  const { database, servers } = await read("");
  const engine = textAt(database, "engine");
  const { databaseUrl } = app.config;
  if (databaseUrl === null) assertEquals(engine, "sqlite");
  else assert(["postgres", "citus"].includes(engine), engine);
  if (engine === "citus") assert(Number(textAt(database, "shards")) > 0);
  else assertEquals(servers.length, 1);
  const sum = (name: string) =>
    servers.reduce((sum, server) => sum + Number(textAt(server, name)), 0);
  assertEquals(sum("sellers"), 2);
  assert(sum("bytes") > 0);
  for (const server of servers) assertEquals(textAt(server, "state"), "up");
  const { servers: [own, ...more] } = await read("?seller=other");
  assertEquals(more, []);
  assert(servers.some((one) => textAt(one, "name") === textAt(own, "name")));
  const unknown = await app.call(`${DATABASE}?seller=nobody`, {
    key: OPERATOR,
  });
  assertEquals(unknown.status, 404);
});

Deno.test("the sellers of a database do not include removed ones", async () => {
  await using app = await boot({ config: { operatorKey: OPERATOR } });
  await app.addSeller("other");
  const sellers = async () => {
    const { xml } = await app.call(DATABASE, { key: OPERATOR });
    const [server] = child(child(xml, "database"), "servers").children;
    return textAt(server, "sellers");
  };
  assertEquals(await sellers(), "2");
  const removal = { method: "DELETE", key: OPERATOR };
  await app.call("/operator_api/sellers/other", removal);
  assertEquals(await sellers(), "1");
});
