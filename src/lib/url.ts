/**
 * The syntax rule for URLs that sellers choose, for images and webhooks.
 *
 * `net/outbound.ts` decides whether the host may be reached, because that needs
 * a DNS look-up.
 */
import { codePoints, fits, quote, shownLength } from "./values.ts";

/** The length of the longest accepted URL, in Unicode code points. */
export const MAX_URL_LENGTH = 2_000;

/** A parsed URL, or a sentence for the seller about what is wrong. */
export type SellerUrl =
  | { url: URL }
  | { problem: string; code: "bad_url" | "too_long" };

const EXAMPLE = "https://images.example/a.jpg";

/**
 * Checks a URL by its text: http or https, port 80, 443 or from 1024 up, no
 * user name or password, at most 2,000 code points, and nothing that `new
 * URL()` would silently repair. A fragment is accepted and never sent.
 *
 * Does not throw. The problem says what was found and what would be right.
 */
export function parseSellerUrl(text: string): SellerUrl {
  if (!fits(text, MAX_URL_LENGTH)) {
    return {
      code: "too_long",
      problem: `The URL has ${shownLength(text, grouped)} characters; ${
        grouped(MAX_URL_LENGTH)
      } is the most.`,
    };
  }
  const problem = repairable(text) ?? misshapen(text);
  if (problem !== undefined) return { code: "bad_url", problem };
  const url = URL.parse(text);
  if (url === null) {
    return { code: "bad_url", problem: unparsable(text) };
  }
  const port = portProblem(url.port);
  return port === undefined ? { url } : { code: "bad_url", problem: port };
}

// URL.parse removes tabs and line ends, trims, and turns a backslash into a
// slash. The parsed URL then differs from the seller's text, and other software
// may read another host in it.
function repairable(text: string): string | undefined {
  if (text === "") return `The URL is empty; it must be like ${EXAMPLE}.`;
  const odd = /[\s\p{Cc}\\]/u.exec(text);
  if (odd !== null) {
    const encoded = encodeURIComponent(odd[0]);
    return `The URL has ${nameOf(odd[0])} at position ${
      codePoints(text.slice(0, odd.index)) + 1
    }; in a path or query it must be written as ${encoded}.`;
  }
  if (!text.isWellFormed()) {
    return "The URL has half of a surrogate pair in it; it must be valid Unicode.";
  }
}

function misshapen(text: string): string | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1].toLowerCase();
  if (scheme === undefined) {
    return `The URL does not start with http:// or https://; it must be like ${EXAMPLE}.`;
  }
  if (scheme !== "http" && scheme !== "https") {
    return `The URL's scheme is ${
      quote(scheme)
    }; it must be http or https, as in ${EXAMPLE}.`;
  }
  const authority = /^[^:]+:\/\/([^/?#]*)/.exec(text)?.[1];
  if (!authority) {
    return `The URL has no host right after ${scheme}://; it must be like ${EXAMPLE}.`;
  }
  if (authority.includes("@")) {
    return "The URL has a user name or password (an @ before the host); it must have none.";
  }
}

function unparsable(text: string): string {
  const host = text.split(/[/?#]/, 3)[2];
  return `The URL's host ${
    quote(host)
  } is not a valid host name, address or port; it must be like ${EXAMPLE}.`;
}

function portProblem(port: string): string | undefined {
  // An empty port stands for the default of the scheme, 80 or 443.
  if (port === "" || port === "80" || port === "443") return;
  if (Number(port) >= 1024) return;
  return `The URL's port is ${port}; it must be 80, 443, or 1024 and above.`;
}

function nameOf(char: string): string {
  if (char === " ") return "a space";
  if (char === "\\") return "a backslash";
  const code = char.codePointAt(0) ?? 0;
  return `the character U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/**
 * The origin (scheme, host, port) of each accepted URL; null for a path. Most
 * images of an upload have the same host, so the origin of a host is parsed
 * once.
 */
export function originsOf(urls: readonly string[]): (string | null)[] {
  const origins = new Map<string, string>();
  return urls.map((url) => {
    const [beginning] = /^[^:]+:\/\/[^/?#]*/.exec(url) ?? [];
    if (beginning === undefined) return null;
    let origin = origins.get(beginning);
    if (origin === undefined) {
      origin = new URL(beginning).origin;
      origins.set(beginning, origin);
    }
    return origin;
  });
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
