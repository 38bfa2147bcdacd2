/** A corpus of URLs that have circumvented the checks of other programs. */

import { assert, assertEquals } from "@std/assert";
import { OutboundError } from "../../src/net/outbound.ts";
import {
  answering,
  assertFails,
  EMPTY_200,
  Host,
  openOutbound,
} from "./support.ts";
import { TestClock } from "../support/clock.ts";
import { withCorpusJson } from "../support/corpus.ts";

interface Row {
  url: string;
  host: string | null;
  expect: string;
}

const PUBLIC = "93.184.216.34";

withCorpusJson<Row[]>("ssrf.json", (rows) => {
  Deno.test("the outbound client connects to no blocked URL of the corpus", async () => {
    const privateHosts = new Set(
      rows.filter((row) => row.expect === "resolve-private")
        .map((row) => row.host),
    );
    const dialled: string[] = [];
    using outbound = openOutbound({
      allowPrivate: [],
      resolve: (name) =>
        Promise.resolve([privateHosts.has(name) ? "10.0.0.1" : PUBLIC]),
      dial: (address) => {
        dialled.push(address);
        return Promise.reject(new Deno.errors.ConnectionRefused());
      },
    });
    const mustPass = new Set(["allow", "resolve"]);
    const wrong: string[] = [];
    for (const { url, host, expect } of rows) {
      dialled.length = 0;
      const error: unknown = await outbound.head(url, { timeoutMs: 1000 })
        .then(() => null, (error) => error);
      assert(error instanceof OutboundError);
      const refused = error.kind === "blocked" && dialled.length === 0;
      const reached = error.kind === "refused" && dialled.length > 0;
      if (expect === "either") continue;
      // The policy refuses more than addresses: user names, ports, unusual
      // spellings.
      const byPolicy = refused && error.message.startsWith("The URL");
      const fine = mustPass.has(expect) ? reached || byPolicy : refused;
      if (!fine) wrong.push(`${expect} ${url} (${host}): ${error.message}`);
    }
    assertEquals(wrong, []);
  });
});

const LOOPBACK_SPELLINGS = [
  "127.0.0.1",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "0x7f.0.0.1",
  "0",
  "0.0.0.0",
  "[::ffff:127.0.0.1]",
  "[::1]",
  "[::]",
  "[::127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "localhost",
  "localhost.",
  "LOCALHOST",
  "ⓛocalhost",
  "a.localhost",
  "①②⑦.⓪.⓪.①",
];

Deno.test("no spelling of the loopback address connects", async () => {
  await using host = new Host(answering(EMPTY_200));
  using outbound = openOutbound({ allowPrivate: [], resolve: undefined });
  for (const name of LOOPBACK_SPELLINGS) {
    const url = host.url("/", name);
    await assertFails(outbound.check(url), "blocked");
    await assertFails(outbound.head(url, { timeoutMs: 1000 }), "blocked");
  }
  assertEquals(host.connections, 0);
});

Deno.test("one private address among several public ones is enough to refuse", async () => {
  await using host = new Host(answering(EMPTY_200));
  for (const blocked of ["10.0.0.1", "::1", "169.254.169.254", "nonsense"]) {
    const addresses = [PUBLIC, "127.0.0.1", blocked, "2606:2800:220:1::1"];
    using outbound = openOutbound({
      resolve: () => Promise.resolve(addresses),
    });
    const error = await assertFails(
      outbound.head(host.url("/", "two.example"), { timeoutMs: 1000 }),
      "blocked",
      "two.example leads to an address that is not on the public internet",
    );
    assert(!error.message.includes(blocked), "an address of ours is told");
  }
  assertEquals(host.connections, 0);
});

Deno.test("a name that changes its address is checked again", async () => {
  await using host = new Host(answering(EMPTY_200));
  const clock = new TestClock();
  const answers = [["127.0.0.1"], ["10.0.0.1"]];
  let lookups = 0;
  using outbound = openOutbound({
    resolve: () => Promise.resolve(answers[lookups++]),
    clock,
  });
  const url = host.url("/", "rebind.example");
  const first = await outbound.head(url, { timeoutMs: 1000 });
  assertEquals([first.status, first.address], [200, "127.0.0.1"]);
  // Within these seconds the checked address is used, with or without a kept
  // connection.
  await outbound.head(url, { timeoutMs: 1000 });
  assertEquals([lookups, host.connections], [1, 1]);
  clock.advance(5_001);
  // There is a kept connection, but its address is not allowed any more.
  await assertFails(outbound.head(url, { timeoutMs: 1000 }), "blocked");
  assertEquals([lookups, host.connections], [2, 1]);
});

Deno.test("a kept connection serves only while its address is one of the name's", async () => {
  await using host = new Host(answering(EMPTY_200));
  const clock = new TestClock();
  const answers = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2", "127.0.0.1"]];
  const dialled: string[] = [];
  using outbound = openOutbound({
    resolve: () => Promise.resolve(answers.shift() ?? []),
    dial: (hostname, port, signal) => {
      dialled.push(hostname);
      return hostname === "127.0.0.1"
        ? Deno.connect({ hostname, port, signal })
        : Promise.reject(new Deno.errors.ConnectionRefused());
    },
    clock,
  });
  const head = () =>
    outbound.head(host.url("/", "moving.example"), { timeoutMs: 1000 });
  await head();
  clock.advance(5_001);
  await assertFails(head(), "refused");
  clock.advance(5_001);
  await head();
  assertEquals(dialled, ["127.0.0.1", "127.0.0.2"]);
});

Deno.test("a redirect is an answer and is not followed", async () => {
  await using inside = new Host(answering(EMPTY_200));
  const location = inside.url("/latest/meta-data/");
  await using host = new Host(
    answering(
      `HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`,
    ),
  );
  using outbound = openOutbound();
  const answer = await outbound.get(host.url(), {
    timeoutMs: 1000,
    maxBytes: 10,
  });
  answer.cancel();
  assertEquals(answer.status, 302);
  assertEquals(answer.headers("Location"), location);
  assertEquals(inside.connections, 0);
});
