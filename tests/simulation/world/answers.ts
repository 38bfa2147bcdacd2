/** Rules that every answer must follow, whatever the request was. */
import { parseTree, type XmlElement } from "../../../src/xml/decode.ts";
import { DETAIL_CODES, ERRORS } from "../../../src/lib/errors.ts";
import { textAt } from "../../support/app.ts";
import { asXml } from "../../support/forms.ts";
import { validateResponse } from "../../support/schemas.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { SimulatedAnswer } from "../scheduler.ts";
import { hold } from "./broken_rule.ts";

export interface Reply {
  status: number;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
  /**
   * The body as text; JSON is converted to the equivalent XML; empty if there
   * is none.
   */
  text: string;
  /** The root `<service>`; null if the body is no such document. */
  xml: XmlElement | null;
  /** The code of an error; null if there is none. */
  code: keyof typeof ERRORS | null;
}

export interface Expectations {
  /**
   * Whether a seller's key was sent, so that the headers include the rate
   * limit.
   */
  limited: boolean;
  /** Whether to compare the answer with the published schema. */
  thorough: boolean;
  /** The request, if the client wants JSON; null if it wants XML. */
  json: { method: string; url: string } | null;
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/;
const XML = "text/xml; charset=utf-8";
const JSON_TYPE = "application/json";

/** Reads an answer; throws a `BrokenRule` if it breaks the contracts. */
export function readAnswer(
  { status, headers, body }: SimulatedAnswer,
  { limited, thorough, json }: Expectations,
): Reply {
  const sent = new TextDecoder().decode(body);
  const seen = `${status} ${sent.slice(0, 2_000)}`;
  const type = headers.get("content-type");
  // Refused products are returned in the format in which they were sent.
  const isAsSent = status === 200 &&
    /\/(refused|rejected)$/.test(json?.url ?? "");
  const isTurned = json !== null && type === JSON_TYPE && !isAsSent;
  const text = isTurned ? turned(sent, { ...json, status }, seen) : sent;
  const rule = (holds: boolean, words: string) =>
    hold(holds, "contract", words, seen);
  const id = headers.get("x-request-id");
  rule(id !== null && UUID.test(id), "an answer has an X-Request-Id");
  rule(status !== 500, "nothing is answered 500");
  rule(status < 500 || status === 503, "503 is the only outage");
  if (status === 503) sometimes("503 answered");
  const isHealth = text.includes("<status>unavailable</status>");
  if (status === 429 || (status === 503 && !isHealth)) {
    const after = headers.get("retry-after");
    rule(/^\d+$/.test(after ?? ""), `${status} has a Retry-After in seconds`);
  }
  // If the key cannot be looked up, the rate limit is unknown.
  if (limited && ![401, 408, 503].includes(status)) {
    for (const name of ["limit", "remaining", "reset"]) {
      const value = headers.get(`ratelimit-${name}`);
      rule(/^\d+$/.test(value ?? ""), `a seller is told RateLimit-${name}`);
    }
    const limits = headers.get("ratelimit") ?? "";
    const one = '"(minute|burst)";r=\\d+;t=\\d+';
    rule(
      new RegExp(`^${one}, ${one}$`).test(limits),
      "a seller is told what is left of both limits",
    );
  }
  if (status === 204) rule(text === "", "204 has no body");
  rule(
    json === null || type !== XML || isAsSent,
    "who wants JSON is answered in JSON",
  );
  const isXml = (isTurned || type === XML) && text !== "";
  if (!isXml) {
    rule(status < 400, "an error is a document");
    return { status, headers, body, text, xml: null, code: null };
  }
  const root = parse(isTurned ? new TextEncoder().encode(text) : body, seen);
  const xml = root.name === "service" ? root : null;
  rule(xml !== null || root.name === "products", "the root is <service>");
  if (thorough && xml !== null) {
    const problem = validateResponse(text);
    rule(problem === null, `an answer is as its schema says: ${problem}`);
  }
  const code = status < 400 || isHealth ? null : codeOf(xml!, status, rule);
  return { status, headers, body, text, xml, code };
}

/** Converts an answer in JSON to the equivalent XML. */
function turned(
  json: string,
  asked: { method: string; url: string; status: number },
  seen: string,
): string {
  sometimes("an answer in JSON");
  try {
    return asXml(json, asked);
  } catch (error) {
    hold(false, "contract", `an answer in JSON has its shape: ${error}`, seen);
  }
}

function parse(body: Uint8Array, seen: string): XmlElement {
  try {
    return parseTree(body);
  } catch (error) {
    hold(false, "contract", `an answer is well-formed: ${error}`, seen);
  }
}

function codeOf(
  xml: XmlElement,
  status: number,
  rule: (holds: boolean, words: string) => void,
): keyof typeof ERRORS {
  const code = textAt(xml, "error/code") as keyof typeof ERRORS;
  rule(code in ERRORS, `the code ${code} is documented`);
  const { status: own, also }: { status: number; also?: number } = ERRORS[code];
  rule(status === own || status === also, `${code} is ${own}`);
  for (const detail of detailsOf(xml)) {
    rule(
      detail.code in DETAIL_CODES,
      `the detail ${detail.code} is documented`,
    );
  }
  return code;
}

/** The details of an error or of a refused product, as plain objects. */
export function detailsOf(
  xml: XmlElement | null,
): Record<string, string>[] {
  const error = xml?.name === "service" ? xml.children[0] : xml;
  const details = error?.children.find(({ name }) => name === "details");
  return (details?.children ?? []).filter(({ name }) => name === "detail")
    .map((detail) =>
      Object.fromEntries(detail.children.map(({ name, text }) => [name, text]))
    );
}

/** Whether a 503 says that the request may nevertheless have been stored. */
export function isUnsure({ status, text }: Reply): boolean {
  return status === 503 && text.includes("may or may not");
}
