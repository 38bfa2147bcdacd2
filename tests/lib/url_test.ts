import { assert, assertEquals } from "@std/assert";
import {
  MAX_URL_LENGTH,
  originsOf,
  parseSellerUrl,
} from "../../src/lib/url.ts";

function problemOf(text: string): { code: string; problem: string } {
  const parsed = parseSellerUrl(text);
  assert("problem" in parsed, `accepted: ${text}`);
  return parsed;
}

const ACCEPTED: [text: string, href: string][] = [
  ["https://cdn.example/a.jpg", "https://cdn.example/a.jpg"],
  ["HTTP://CDN.example", "http://cdn.example/"],
  ["http://cdn.example:80/", "http://cdn.example/"],
  ["http://cdn.example:443/", "http://cdn.example:443/"],
  ["https://cdn.example:80/", "https://cdn.example:80/"],
  ["https://cdn.example:1024/", "https://cdn.example:1024/"],
  ["https://cdn.example:65535/", "https://cdn.example:65535/"],
  ["https://cdn.example:/", "https://cdn.example/"],
  [
    "https://bücher.example/ü?q=ü",
    "https://xn--bcher-kva.example/%C3%BC?q=%C3%BC",
  ],
  ["https://cdn.example/a@b?c=d@e#f", "https://cdn.example/a@b?c=d@e#f"],
  ["https://cdn.example?a=b", "https://cdn.example/?a=b"],
  ["http://[2606:2800::1]:8080/a", "http://[2606:2800::1]:8080/a"],
  ["http://0x7f.1/", "http://127.0.0.1/"],
];

for (const [text, href] of ACCEPTED) {
  Deno.test(`parseSellerUrl() accepts ${text}`, () => {
    const parsed = parseSellerUrl(text);
    assert("url" in parsed, "problem" in parsed ? parsed.problem : "");
    assertEquals(parsed.url.href, href);
  });
}

Deno.test("originsOf() reads what a URL parser reads", () => {
  const urls = ACCEPTED.map(([text]) => text);
  const again = [...urls, ...urls.map((url) => url.replace(/#.*$/, "") + "x")]
    .filter((url) => URL.canParse(url));
  assertEquals(originsOf(again), again.map((url) => new URL(url).origin));
});

const REFUSED: [text: string, says: RegExp][] = [
  ["", /is empty/],
  ["cdn.example/a.jpg", /does not start with http/],
  ["/a.jpg", /does not start with http/],
  ["//cdn.example/a.jpg", /does not start with http/],
  ["ftp://cdn.example/", /scheme is "ftp"; it must be http or https/],
  ["data:image/png;base64,iVBORw0KGgo=", /scheme is "data"/],
  ["javascript:alert(1)", /scheme is "javascript"/],
  ["blob:https://cdn.example/1", /scheme is "blob"/],
  ["https:cdn.example/a", /no host right after https:\/\//],
  ["https:/cdn.example/a", /no host right after/],
  ["https:///cdn.example/a", /no host right after/],
  ["https://", /no host right after/],
  ["https://?a", /no host right after/],
  ["https://user@cdn.example/", /user name or password/],
  ["https://user:pass@cdn.example/", /user name or password/],
  ["https://@cdn.example/", /user name or password/],
  ["https://:@cdn.example/", /user name or password/],
  ["https://cdn.example:22/", /port is 22; it must be 80, 443, or 1024/],
  ["https://cdn.example:0/", /port is 0/],
  ["https://cdn.example:1023/", /port is 1023/],
  ["https://cdn.example:65536/", /host "cdn.example:65536" is not a valid/],
  ["https://cdn.example:port/", /is not a valid/],
  ["https://256.1.1.1/", /host "256.1.1.1" is not a valid/],
  ["https://a<b/", /host "a<b" is not a valid/],
  ["https://[::1/", /is not a valid/],
  [" https://cdn.example/", /a space at position 1;/],
  ["https://cdn.example/ ", /a space at position 21;/],
  ["https://cdn.example/a b", /a space at position 22; .* written as %20/],
  ["https://cdn.example/😀\t", /U\+0009 at position 22; .* written as %09/],
  ["https://cdn.exa\nmple/", /U\+000A at position 16/],
  ["https://cdn.example/\u00a0", /U\+00A0/],
  ["https://cdn.example/\u0000", /U\+0000/],
  ["https://cdn.example/\u0085", /U\+0085/],
  ["https://cdn.example\\@127.0.0.1/", /a backslash at position 20/],
  ["https:\\\\cdn.example/", /a backslash at position 7/],
  ["https://cdn.example/\ud800", /surrogate/],
];

for (const [text, says] of REFUSED) {
  Deno.test(`parseSellerUrl() refuses ${JSON.stringify(text)}`, () => {
    const { code, problem } = problemOf(text);
    assertEquals(code, "bad_url");
    assert(says.test(problem), problem);
    assert(/^The URL[^\p{Cc}]*\.$/u.test(problem), problem);
  });
}

Deno.test("parseSellerUrl() counts code points, not UTF-16 units", () => {
  const start = "https://cdn.example/";
  const longest = start + "😀".repeat(MAX_URL_LENGTH - start.length);
  assert("url" in parseSellerUrl(longest));
  assertEquals(problemOf(longest + "a"), {
    code: "too_long",
    problem: "The URL has 2,001 characters; 2,000 is the most.",
  });
});

Deno.test("parseSellerUrl() quotes no more of a host than is helpful", () => {
  assert(problemOf(`https://${"<".repeat(1900)}/`).problem.length < 200);
});
