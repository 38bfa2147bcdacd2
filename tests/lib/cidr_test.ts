import { assertEquals } from "@std/assert";
import { parseCidr, Ranges } from "../../src/lib/cidr.ts";

Deno.test("parseCidr() reads ranges of both families", () => {
  assertEquals(parseCidr("10.0.0.0/8"), {
    address: "10.0.0.0",
    prefix: 8,
    family: "ipv4",
  });
  assertEquals(parseCidr("0.0.0.0/0")?.prefix, 0);
  assertEquals(parseCidr("::1/128"), {
    address: "::1",
    prefix: 128,
    family: "ipv6",
  });
});

Deno.test("a range has addresses of its own family, whatever their zone", () => {
  assertEquals(new Ranges(["fe80::/10"]).has("fe80::1%eth0"), true);
  assertEquals(new Ranges(["192.0.2.0/24"]).has("::ffff:c000:209"), false);
});

for (
  const text of [
    "",
    "localhost",
    "10.0.0.0",
    "10/8",
    "10.0.0.0/33",
    "::1/129",
    "1.2.3.4/",
    "1.2.3.4/-1",
    "1.2.3.4/8/8",
    "1.2.3.4/8x",
    "fe80::1%a/64",
  ]
) {
  Deno.test(`parseCidr() reads no range in "${text}"`, () => {
    assertEquals(parseCidr(text), null);
  });
}
