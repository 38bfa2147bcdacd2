import { assert, assertEquals } from "@std/assert";
import {
  conditionOf,
  IMAGE_CODES,
  imageAddress,
  isUploaded,
  RETRIES,
  shownUrl,
  statusFailure,
  validatorOf,
} from "../../src/images/image.ts";
import { retryDelay } from "../../src/jobs/retry_schedule.ts";

const headers = (of: Record<string, string>) => (name: string) =>
  of[name] ?? null;

Deno.test("retryDelay() is 1 s, 5 s, 30 s, 2 min, then none", () => {
  const middle = [1, 2, 3, 4, 5].map((attempts) =>
    retryDelay(RETRIES, attempts, 0.5)
  );
  assertEquals(middle, [1_000, 5_000, 30_000, 120_000, null]);
});

Deno.test("retryDelay() spreads by a fifth to either side", () => {
  assertEquals(retryDelay(RETRIES, 1, 0), 800);
  assertEquals(retryDelay(RETRIES, 1, 1), 1_200);
});

Deno.test("retryDelay() waits for Retry-After, up to a limit", () => {
  assertEquals(retryDelay(RETRIES, 1, 0.5, 60_000), 60_000);
  assertEquals(retryDelay(RETRIES, 4, 0.5, 1_000), 120_000);
  assertEquals(retryDelay(RETRIES, 1, 0.5, 1e9), 15 * 60_000);
  assertEquals(retryDelay(RETRIES, 5, 0.5, 60_000), null);
});

Deno.test("statusFailure() retries only transient failures", () => {
  const transient = (status: number) =>
    statusFailure(status, headers({})).transient;
  for (const status of [408, 425, 429, 500, 502, 503, 504, 599]) {
    assert(transient(status), String(status));
  }
  for (const status of [204, 206, 301, 400, 401, 403, 404, 410, 418, 451]) {
    assert(!transient(status), String(status));
  }
});

Deno.test("statusFailure() says what was answered and what would be right", () => {
  assertEquals(
    statusFailure(302, headers({ location: "https://b.example/x.jpg" })),
    {
      code: "image_redirected",
      message:
        "GET answered 302 (to https://b.example/x.jpg); an image URL must answer 200.",
      transient: false,
    },
  );
  assertEquals(statusFailure(304, headers({})), {
    code: "image_unavailable",
    message: "GET answered 304; an image URL must answer 200.",
    transient: false,
  });
  assertEquals(statusFailure(429, headers({ "retry-after": "7" })), {
    code: "image_rate_limited",
    message: "GET answered 429; an image URL must answer 200.",
    transient: true,
    retryAfter: "7",
  });
});

Deno.test("validatorOf() prefers the ETag to Last-Modified with length", () => {
  const date = "Fri, 20 Nov 2026 08:00:00 GMT";
  const both = { "last-modified": date, "content-length": "9" };
  assertEquals(validatorOf(headers({ ...both, etag: 'W/"a"' })), 'etag W/"a"');
  assertEquals(validatorOf(headers(both)), `modified 9 ${date}`);
  assertEquals(validatorOf(headers({ "last-modified": date })), null);
  assertEquals(validatorOf(headers({ "content-length": "9" })), null);
  assertEquals(validatorOf(headers({ etag: "" })), null);
});

Deno.test("validatorOf() keeps at most 255 bytes of a header", () => {
  const of = (etag: string) => validatorOf(headers({ etag }))!;
  const longest = `"${"a".repeat(248)}"`;
  assertEquals(of(longest), `etag ${longest}`);
  const tooLong = [`"${"a".repeat(249)}"`, `"${"é".repeat(200)}"`];
  for (const etag of [...tooLong, "x".repeat(32_000)]) {
    assert(of(etag).length <= 255, of(etag));
    assertEquals(of(etag), of(etag));
    assert(of(etag) !== of(`${etag}x`), "a change must be seen");
    assertEquals(conditionOf(of(etag)), {});
  }
  const modified = validatorOf(headers({
    "last-modified": "x".repeat(32_000),
    "content-length": "9",
  }))!;
  assert(modified.length <= 255, modified);
});

Deno.test("conditionOf() sends what validatorOf() read", () => {
  const date = "Fri, 20 Nov 2026 08:00:00 GMT";
  assertEquals(conditionOf('etag W/"a b"'), { "if-none-match": 'W/"a b"' });
  assertEquals(conditionOf(`modified 9 ${date}`), {
    "if-modified-since": date,
  });
  assertEquals(conditionOf(null), {});
});

Deno.test("every image code begins with image_ and is explained", () => {
  for (const [code, { meaning, remedy }] of Object.entries(IMAGE_CODES)) {
    assert(/^image_[a-z_]+$/.test(code), code);
    for (const text of [meaning, remedy]) {
      assert(/^[A-Z].*\.$/.test(text), text);
    }
  }
});

Deno.test("imageAddress() finds the path of an image file, with or without a host", () => {
  const file = `65/65${"0".repeat(62)}.png`;
  const path = `/images/${file}`;
  for (const base of ["", "https://a.example", "http://a.example/shop"]) {
    for (const end of ["", "?size=2", "#a", "?a=/images/b.png#c"]) {
      assertEquals(imageAddress(base + path + end), { base, path });
    }
  }
  const others = [
    `images/${file}`,
    `/images/66/65${"0".repeat(62)}.png`,
    `/images/65/65${"0".repeat(61)}.png`,
    `/images/65/65${"A".repeat(62)}.png`,
    `${path.slice(0, -3)}svg`,
    `https://a.example/a.png?from=${path}`,
    `${path}/`,
    "https://a.example/images/a.png",
  ];
  for (const other of others) assertEquals(imageAddress(other), null, other);
});

Deno.test("shownUrl() gives an uploaded image the present host", () => {
  const path = `/images/65/65${"0".repeat(62)}.png`;
  assertEquals([isUploaded(path), isUploaded(`https://a.example${path}`)], [
    true,
    false,
  ]);
  assertEquals(shownUrl(path, "https://b.example"), `https://b.example${path}`);
  const other = "https://a.example/a.png";
  assertEquals(shownUrl(other, "https://b.example"), other);
});
