import { assertEquals } from "@std/assert";
import {
  AuthFailureLimiter,
  clientAddress,
} from "../../../src/http/admission/auth_failures.ts";

function addressOf(forwarded: string | null, proxies: number): string {
  const headers = forwarded === null ? [] : [["x-forwarded-for", forwarded]];
  const request = new Request("http://x/", {
    headers: headers as [string, string][],
  });
  return clientAddress(request, "192.0.2.1", proxies);
}

Deno.test("the client's address is what the outermost trusted proxy saw", () => {
  for (
    const [forwarded, proxies, address] of [
      [null, 0, "192.0.2.1"],
      ["198.51.100.1", 0, "192.0.2.1"],
      [null, 1, "192.0.2.1"],
      ["198.51.100.1", 1, "198.51.100.1"],
      ["1.1.1.1, 198.51.100.1", 1, "198.51.100.1"],
      ["1.1.1.1, 198.51.100.1,10.0.0.1", 2, "198.51.100.1"],
      ["198.51.100.1", 2, "192.0.2.1"],
      ["198.51.100.1:443", 1, "198.51.100.1"],
      ["[2606:2800::1]:443", 1, "2606:2800::1"],
      ["2606:2800::1", 1, "2606:2800::1"],
      ["::ffff:198.51.100.1", 1, "198.51.100.1"],
      ["[::FFFF:c633:6401]:443", 1, "198.51.100.1"],
      ["0:0:0:0:0:ffff:c633:6401", 1, "198.51.100.1"],
      ["fe80::1%eth0", 1, "fe80::1%eth0"],
      ["unknown", 1, "192.0.2.1"],
      ["", 1, "192.0.2.1"],
      [",", 1, "192.0.2.1"],
      ["127.1", 1, "192.0.2.1"],
    ] as const
  ) {
    assertEquals(addressOf(forwarded, proxies), address, `${forwarded}`);
  }
});

Deno.test("the addresses of one IPv6 network count as one", () => {
  const clock = { now: () => 0, monotonic: () => 0, after: () => () => {} };
  const authFailures = new AuthFailureLimiter(clock);
  for (let n = 0; n < 300; n++) {
    const address = `2606:2800:0:1:${n.toString(16)}::${n % 2}`;
    assertEquals(authFailures.count(address), null);
  }
  const refused = (address: string) => authFailures.count(address) !== null;
  assertEquals(refused("2606:2800:0:1::"), true);
  assertEquals(refused("2606:2800:0:1:ffff:ffff:ffff:ffff"), true);
  assertEquals(refused("2606:2800:0:2::"), false);
  assertEquals(refused("2606:2800::1"), false);
  assertEquals(refused("::1"), false);
  assertEquals(refused("::ffff:192.0.2.1"), false);
  assertEquals(refused("fe80::1%eth0"), false);
});
