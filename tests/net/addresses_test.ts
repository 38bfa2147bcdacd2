import { assert, assertThrows } from "@std/assert";
import { isBlocked, isBlockedName } from "../../src/net/addresses.ts";
import { Ranges } from "../../src/lib/cidr.ts";

// In each row: the last address before a blocked range, its first, its last,
// and the first one after it ("" if the neighbour is blocked, too).
const RANGES: [string, string, string, string][] = [
  ["", "0.0.0.0", "0.255.255.255", "1.0.0.0"],
  ["9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"],
  ["100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"],
  ["126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"],
  ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"],
  ["172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"],
  ["191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"],
  ["192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"],
  ["192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"],
  ["192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"],
  ["198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"],
  ["198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"],
  ["203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"],
  ["223.255.255.255", "224.0.0.0", "239.255.255.255", ""],
  ["", "240.0.0.0", "255.255.255.255", ""],
  ["", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"],
  [
    "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001::",
    "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:200::",
  ],
  [
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db8::",
    "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db9::",
  ],
  [
    "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2002::",
    "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2003::",
  ],
  [
    "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff::",
    "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff:1000::",
  ],
  [
    "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "4000::",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "",
  ],
];

for (const [before, first, last, after] of RANGES) {
  Deno.test(`isBlocked() blocks ${first} to ${last} and no more`, () => {
    assert(isBlocked(first));
    assert(isBlocked(last));
    if (before !== "") assert(!isBlocked(before), before);
    if (after !== "") assert(!isBlocked(after), after);
  });
}

const EMBEDDED = [
  "::ffff:8.8.8.8",
  "::ffff:808:808",
  "::8.8.8.8",
  "::ffff:0:8.8.8.8",
  "64:ff9b::8.8.8.8",
  "64:ff9b:1::8.8.8.8",
  "2002:808:808::",
  "2001:0:808:808::",
];

for (const address of EMBEDDED) {
  Deno.test(`isBlocked() blocks the embedded IPv4 of ${address}`, () => {
    assert(isBlocked(address));
    assert(isBlocked(address, new Ranges(["127.0.0.0/8", "8.8.8.8/32"])));
  });
}

const UNREADABLE = [
  "",
  "localhost",
  "127.1",
  "010.0.0.1",
  "0x8.8.8.8",
  "134744072",
  "8.8.8",
  "8.8.8.8 ",
  "8.8.8.8:80",
  "[2606::1]",
  "2606::1::2",
  "%eth0",
];

for (const text of UNREADABLE) {
  Deno.test(`isBlocked() blocks a text that is no address: "${text}"`, () => {
    assert(isBlocked(text));
    assert(isBlocked(text, new Ranges(["0.0.0.0/0", "::/0"])));
  });
}

Deno.test("isBlocked() ignores the zone of an address", () => {
  assert(isBlocked("fe80::1%eth0"));
  assert(isBlocked("::1%lo"));
  assert(!isBlocked("2606::1%eth0"));
  assert(!isBlocked("fe80::1%eth0", new Ranges(["fe80::/10"])));
});

Deno.test("isBlocked() allows exactly the ranges of the allow-list", () => {
  const allow = new Ranges([
    "127.0.0.0/8",
    "10.1.2.0/24",
    "fd00::/8",
    "::1/128",
  ]);
  for (const address of ["127.9.9.9", "10.1.2.3", "fd12::1", "::1"]) {
    assert(!isBlocked(address, allow), address);
  }
  for (const address of ["10.1.3.0", "fc00::1", "::2", "::ffff:127.0.0.1"]) {
    assert(isBlocked(address, allow), address);
  }
});

Deno.test("isBlockedName() blocks names of private networks", () => {
  for (
    const name of [
      "localhost",
      "LOCALHOST",
      "localhost.",
      "a.localhost",
      "metadata",
      "printer.local",
      "metadata.google.internal",
      "metadata.google.internal.",
      "host.docker.internal..",
      "kubernetes.default.svc",
      "kubernetes.default.svc.cluster.local",
      "",
      ".",
      "..",
    ]
  ) assert(isBlockedName(name), name);
});

Deno.test("isBlockedName() allows public names", () => {
  for (
    const name of [
      "cdn.example",
      "localhost.example",
      "notlocalhost.example.",
      "local.example",
      "mylocal.xlocal",
      "internal.example",
    ]
  ) assert(!isBlockedName(name), name);
});

Deno.test("isBlockedName() blocks no name if any address is allowed", () => {
  assert(!isBlockedName("localhost", new Ranges(["127.0.0.0/8"])));
});

Deno.test("an allowed range that is no CIDR throws", () => {
  assertThrows(() => new Ranges(["localhost"]), TypeError, "is not a CIDR");
});
