import { assertEquals } from "@std/assert";
import { readConfig } from "../../../src/config.ts";
import { boot } from "../../support/app.ts";

const PATH = "/.well-known/security.txt";

Deno.test("security.txt names the operator's contacts, as in RFC 9116", async () => {
  const securityContact = "mailto:security@example.com";
  await using app = await boot({ config: { securityContact } });
  const { status, headers, text } = await app.call(PATH, { key: null });
  assertEquals([status, headers.get("content-type")], [
    200,
    "text/plain; charset=utf-8",
  ]);
  const fields = text.trimEnd().split("\n").map((line) => line.split(": "));
  assertEquals(fields[0], ["Contact", securityContact]);
  assertEquals(fields[1][0], "Expires");
  const days = (Date.parse(fields[1][1]) - Date.now()) / 86_400_000;
  assertEquals([days > 170, days < 366], [true, true]);
});

Deno.test("security.txt: 404 without a contact; only addresses are accepted", async () => {
  await using app = await boot();
  assertEquals((await app.call(PATH, { key: null })).status, 404);
  for (const text of ["security@example.com", "http://example.com", "x"]) {
    const { mistakes } = readConfig({}, { SELLER_SECURITY_CONTACT: text });
    assertEquals(mistakes.length, 1, text);
  }
});
