/**
 * https: connects to the checked address and verifies the certificate for the
 * name.
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { connectError } from "../../src/net/dial.ts";
import { AUTHORITY } from "./certificates.ts";
import {
  answering,
  assertFails,
  EMPTY_200,
  Host,
  openOutbound,
  textOf,
} from "./support.ts";
import { TestClock, until } from "../support/clock.ts";

const timeoutMs = 10_000;
const TLS = true;
const ca = [AUTHORITY];

Deno.test("https sends the name while it connects to the checked address", async () => {
  const seen: (string | undefined)[] = [];
  await using host = new Host(
    answering((request) => {
      seen.push(/^Host: (.*)\r$/m.exec(request)?.[1]);
      return EMPTY_200;
    }),
    TLS,
  );
  using outbound = openOutbound({ ca });
  const url = host.url("/", "images.test", "https");
  for (let n = 0; n < 3; n++) {
    const answer = await outbound.head(url, { timeoutMs });
    assertEquals([answer.status, answer.address], [200, "127.0.0.1"]);
  }
  assertEquals(seen, Array(3).fill(`images.test:${host.port}`));
  assertEquals(host.connections, 1);
  // The certificate contains the address, too, and a name may end in a dot.
  await outbound.head(host.url("/", "127.0.0.1", "https"), { timeoutMs });
  await outbound.head(host.url("/", "images.test.", "https"), { timeoutMs });
});

Deno.test("https streams a body", async () => {
  const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  await using host = new Host(answering(hello), TLS);
  using outbound = openOutbound({ ca });
  const url = host.url("/", "images.test", "https");
  const got = await outbound.get(url, { timeoutMs, maxBytes: 5 });
  assertEquals(await textOf(got.body), "hello");
});

Deno.test("a certificate for another name is refused", async () => {
  await using host = new Host(answering(EMPTY_200), TLS);
  using outbound = openOutbound({ ca });
  await assertFails(
    outbound.head(host.url("/", "other.test", "https"), { timeoutMs }),
    "tls",
    "The TLS certificate of other.test",
  );
});

Deno.test("a certificate of an unknown authority is refused", async () => {
  await using host = new Host(answering(EMPTY_200), TLS);
  using outbound = openOutbound();
  await assertFails(
    outbound.head(host.url("/", "images.test", "https"), { timeoutMs }),
    "tls",
    "not issued by a trusted authority",
  );
  assertEquals(host.connections <= 1, true);
});

const fatalAlert = (reason: number) =>
  new Uint8Array([21, 3, 3, 0, 2, 2, reason]);

for (
  const [name, answer, message] of [
    [
      "what is not TLS",
      "HTTP/1.1 400 Bad Request\r\n\r\n",
      "did not answer with TLS.",
    ],
    [
      "an old version of TLS",
      fatalAlert(70),
      "speaks neither TLS 1.2 nor TLS 1.3.",
    ],
    [
      "a host that does not know its name",
      fatalAlert(112),
      "has no TLS certificate for this name.",
    ],
    ["a failed handshake", fatalAlert(40), "The TLS handshake with images"],
  ] as const
) {
  Deno.test(`${name} is refused with its reason`, async () => {
    await using host = new Host(async (caller) => {
      await caller.send(answer);
      await caller.gone();
    });
    using outbound = openOutbound({ ca });
    await assertFails(
      outbound.head(host.url("/", "images.test", "https"), { timeoutMs }),
      "tls",
      message,
    );
  });
}

// In the words of the TLS library.
for (
  const [text, message] of [
    ["certificate expired: verification time 1795400333", "has expired"],
    ["certificate not valid yet: verification time 179", "is not valid yet"],
    ["Other(OtherError(CaUsedAsEndEntity))", "is self-signed, or an"],
    ["certificate does not allow extended key usage", "is not for a server"],
  ]
) {
  Deno.test(`a certificate that ${message} is refused with this reason`, () => {
    const error = new Deno.errors.InvalidData(
      `invalid peer certificate: ${text}`,
    );
    const { kind, message: told } = connectError(error, "images.test");
    assertEquals(kind, "tls");
    assertStringIncludes(
      told,
      `The TLS certificate of images.test ${message}`,
    );
  });
}

Deno.test("a name that no certificate can have is refused", async () => {
  await using host = new Host(answering(EMPTY_200), TLS);
  using outbound = openOutbound({ ca });
  await assertFails(
    outbound.head(host.url("/", "-a.example", "https"), { timeoutMs }),
    "tls",
  );
});

Deno.test("a handshake without an answer is a connection time-out", async () => {
  let greeted = false;
  await using host = new Host(async (caller) => {
    greeted = await caller.receive();
    await caller.gone();
  });
  const clock = new TestClock();
  using outbound = openOutbound({ ca, clock });
  const head = outbound.head(host.url("/", "images.test", "https"), {
    timeoutMs,
  });
  const failed = assertFails(
    head,
    "timeout",
    "did not accept a connection within 5 s.",
  );
  await until(() => greeted);
  clock.advance(5_000);
  await failed;
});

Deno.test("a handshake that breaks off is retried once", async () => {
  await using host = new Host(() => Promise.resolve());
  using outbound = openOutbound({ ca });
  await assertFails(
    outbound.head(host.url("/", "images.test", "https"), { timeoutMs }),
    "reset",
  );
  assertEquals(host.connections, 2);
});
