import { assertEquals } from "@std/assert";
import { parseCidr, Ranges, unmapped, wholeRange } from "../../src/lib/cidr.ts";

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
    "10.0.0.0/08",
    "10.0.0.0/00",
    "2001:db8::/032",
    "1.2.3.4/8x",
    "fe80::1%a/64",
  ]
) {
  Deno.test(`parseCidr() reads no range in "${text}"`, () => {
    assertEquals(parseCidr(text), null);
  });
}

for (
  const [text, whole] of [
    ["10.0.0.0/8", null],
    ["10.1.2.3/8", "10.0.0.0/8"],
    ["10.1.2.3/0", "0.0.0.0/0"],
    ["192.0.2.255/28", "192.0.2.240/28"],
    ["255.255.255.255/32", null],
    ["::/0", null],
    ["::1/128", null],
    ["::1/127", "::/127"],
    ["2001:DB8::5/32", "2001:db8::/32"],
    ["2001:0db8:0:0:0:0:0:0/32", null],
    ["fe80:1:2:3:4:5:6:7/10", "fe80::/10"],
    ["64:ff9b::192.0.2.1/96", "64:ff9b::/96"],
  ] as const
) {
  Deno.test(`wholeRange() of ${text} is ${whole}`, () => {
    assertEquals(wholeRange(parseCidr(text)!), whole);
  });
}

Deno.test("unmapped() reads mapped addresses in each spelling", () => {
  assertEquals(unmapped("::ffff:192.0.2.9"), "192.0.2.9");
  assertEquals(unmapped("::FFFF:C000:209"), "192.0.2.9");
  assertEquals(unmapped("0:0:0:0:0:ffff:c000:0209"), "192.0.2.9");
});
