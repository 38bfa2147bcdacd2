/**
 * The service enforces the OpenAPI description of each body: a body that breaks
 * it in one place is refused, with that place. The bodies are generated from
 * the description, and sent in both formats.
 */
import { assert } from "@std/assert";
import { openApi } from "../../src/contracts/openapi.ts";
import { ENDPOINTS } from "../../src/http/routes.ts";
import { boot, detailsOf, type TestApp } from "../support/app.ts";
import { xmlOfSent } from "../support/forms.ts";

type Json = null | string | number | boolean | Json[] | JsonObject;
type JsonObject = { [name: string]: Json };

interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  enum?: Json[];
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

const DESCRIPTION = JSON.parse(openApi(ENDPOINTS, "1.0.0"));

/** The first of several: the others describe more. */
const resolved = (schema: Schema): Schema =>
  schema.anyOf !== undefined
    ? schema.anyOf[0]
    : schema.$ref === undefined
    ? schema
    : DESCRIPTION.components.schemas[schema.$ref.split("/").at(-1)!];

const typesOf = ({ type }: Schema): string[] => [type ?? []].flat();

/** A body with every member, and only values of the right types. */
function whole(of: Schema): Json {
  const schema = resolved(of);
  const [type] = typesOf(schema);
  if (schema.enum !== undefined) return schema.enum[0];
  switch (type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties!).map((
          [name, member],
        ) => [name, whole(member)]),
      );
    case "array":
      return [whole(schema.items!)];
    case "integer":
      return schema.minimum ?? 0;
    case "boolean":
      return true;
    case undefined:
      return { of: "any content" };
  }
  switch (schema.format) {
    case "date":
      return "2031-01-01";
    case "date-time":
      return "2031-01-01T00:00:00.000Z";
    case "uuid":
      return "00000000-0000-4000-8000-000000000000";
  }
  const { pattern = "" } = schema;
  return ["x", "1", "4006381333931", "SEK", "SE"]
    .find((text) => new RegExp(pattern).test(text))!;
}

interface Break {
  what: string;
  pointer: string;
  body: Json;
  /** XML has an equivalent. */
  inXml: boolean;
}

/** The body with another value in one place; undefined: without the value. */
function changed(body: Json, path: readonly string[], to?: Json): Json {
  if (path.length === 0) return to ?? null;
  const copy = structuredClone(body);
  let at = copy as JsonObject;
  for (const name of path.slice(0, -1)) at = at[name] as JsonObject;
  if (to === undefined) delete at[path.at(-1)!];
  else at[path.at(-1)!] = to;
  return copy;
}

function valueAt(body: Json, path: readonly string[]): Json {
  return path.reduce((at, name) => (at as JsonObject)[name], body);
}

/** Every way in which a body may break the schema in one place. */
function breaks(body: Json, of: Schema, path: readonly string[] = []): Break[] {
  const schema = resolved(of);
  const found: Break[] = [];
  const broken = (
    what: string,
    to: Json | undefined,
    at: readonly string[] = path,
    inXml = true,
  ) =>
    found.push({
      what,
      pointer: at.map((name) => `/${name}`).join(""),
      body: changed(body, at, to),
      inXml,
    });
  const types = typesOf(schema);
  for (const name of schema.required ?? []) {
    // If the root is a list, an empty element is an empty list.
    const isRoot = path.length === 0 &&
      Object.keys(schema.properties!).length === 1 &&
      typesOf(resolved(schema.properties![name]))[0] === "array";
    broken("missing", undefined, [...path, name], !isRoot);
  }
  const isFormatted = schema.enum !== undefined ||
    schema.pattern !== undefined || schema.format !== undefined ||
    (schema.minLength ?? 0) > 0 || types[0] === "integer";
  const isNullable = types.includes("null") ||
    schema.description?.includes("null is accepted as well");
  if (types.length > 0 && !isNullable) {
    broken("null", null, path, false);
  }
  // In XML, an empty element is null.
  if (isFormatted) broken("empty", "", path, !types.includes("null"));
  if (schema.enum !== undefined) broken("not in the list", "no such word");
  if (schema.pattern !== undefined) broken("not as the pattern", "-");
  if (schema.format !== undefined) broken("not of the format", "yesterday");
  if (schema.minimum !== undefined) {
    broken("below the minimum", schema.minimum - 1);
  }
  if (schema.maximum !== undefined) {
    broken("beyond the maximum", schema.maximum + 1);
  }
  if (schema.maxLength !== undefined) {
    broken("too long", "x".repeat(schema.maxLength + 1));
  }
  if (schema.minItems !== undefined) broken("no items", []);
  if (schema.maxItems !== undefined && schema.maxItems <= 250) {
    const [item] = valueAt(body, path) as Json[];
    broken("too many", Array(schema.maxItems + 1).fill(item));
  }
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    // Only the service sets it.
    if (member.description?.includes("ignored in requests")) continue;
    found.push(...breaks(body, member, [...path, name]));
  }
  if (schema.items !== undefined) {
    found.push(...breaks(body, schema.items, [...path, "0"]));
  }
  return found;
}

/** Values of path parameters. */
const PARAMETERS: Readonly<Record<string, string>> = {
  seller: "acme",
  name: "spring",
  trigger_name: "order_paid",
};

interface Operation {
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface Target {
  method: string;
  path: string;
  schema: Schema;
}

function targets(): Target[] {
  const found: Target[] = [];
  const paths: Record<string, Record<string, Operation>> = DESCRIPTION.paths;
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { requestBody }] of Object.entries(methods)) {
      const content = requestBody?.content;
      // An import reports problems in its results, from the same decoder.
      if (content === undefined || path === "/seller_api/imports") continue;
      // An image has no places.
      if (path === "/seller_api/images") continue;
      const { schema } = content["application/json"];
      found.push({ method: method.toUpperCase(), path, schema });
    }
  }
  return found;
}

/** Reported places, with their codes. */
async function problems(
  app: TestApp,
  { method, path }: Target,
  body: Json,
  form: "xml" | "json",
): Promise<{ status: number; places: string[]; text: string }> {
  const to = path.replace(/\{(\w+)\}/g, (_, name) => PARAMETERS[name]) +
    (path.endsWith("bulk_products") ? "?v=1.1&dry_run=true" : "");
  const key = path.startsWith("/operator_api") ? "op" : app.key;
  const url = app.url + to;
  const json = JSON.stringify(body);
  if (form === "json") {
    const type = "application/json";
    const response = await fetch(url, {
      method,
      body: json,
      headers: { "X-Service-Auth": key, "Content-Type": type, Accept: type },
    });
    const text = await response.text();
    const { details = [] } = JSON.parse(text).error ?? {};
    const places = details.map((
      { pointer, line, code }: Record<string, string>,
    ) => `${pointer} ${code} on line ${line}`);
    return { status: response.status, places, text };
  }
  const answer = await app.call(to, {
    method,
    key,
    body: xmlOfSent(json, { method, url }),
  });
  const places = answer.status < 400
    ? []
    : detailsOf(answer).map(({ line, field, code }) =>
      `${line} ${field} ${code}`
    );
  return { status: answer.status, places, text: answer.text };
}

for (const form of ["json", "xml"] as const) {
  Deno.test(`a body that breaks the contract in one place is refused there, in ${form}`, async (t) => {
    await using app = await boot({ config: { operatorKey: "op" } });
    for (const target of targets()) {
      const body = whole(target.schema);
      const url = app.url + target.path.replace(/\{\w+\}/g, "x");
      const xml = (body: Json) =>
        xmlOfSent(JSON.stringify(body), { method: target.method, url });
      // A text beside XML attributes cannot be missing.
      const isInXml = ({ what, pointer, body: broken, inXml }: Break) => {
        if (!inXml || what !== "missing") return inXml;
        const path = pointer.slice(1).split("/");
        return typeof valueAt(body, path) === "object" ||
          xml(broken) !== xml(changed(body, path, ""));
      };
      const before = await problems(app, target, body, form);
      await t.step(`${target.method} ${target.path}`, async () => {
        const all = breaks(body, target.schema)
          .filter((one) => form === "json" || isInXml(one));
        assert(all.length > 0);
        for (const { what, pointer, body: broken } of all) {
          const answer = await problems(app, target, broken, form);
          const title = `${pointer} ${what}: ${answer.status} ${answer.text}`;
          assert(answer.status >= 400 && answer.status < 500, title);
          // If there are too many products, no single one is wrong.
          if (answer.status === 413) continue;
          // The whole body has an id that no product has.
          const isWrong = (place: string) =>
            place.startsWith(`${pointer} `) ||
            place.includes(` ${pointer.split("/").at(-1)} unknown_id`);
          if (pointer.endsWith("/id") && before.places.some(isWrong)) continue;
          const added = answer.places
            .filter((place) => !before.places.includes(place));
          const parent = pointer.replace(/\/[^/]*$/, "");
          const isPlace = (place: string) => {
            const [at] = place.split(" ");
            const isEntry = what === "too many" && at.startsWith(`${pointer}/`);
            return form === "xml" || /line \d+$/.test(place) &&
                (at === pointer || at === parent || isEntry || pointer === "");
          };
          assert(added.some(isPlace), title);
        }
      });
    }
  });
}

const SURPLUS = /unexpected_text|unknown_attribute|unknown_element|wrong_type/;

/** A document with something invalid in one place, and that place. */
type Surplus = [what: string, document: string];

/** Text, an attribute, or an element, in or next to each element. */
function surplusInXml(xml: string): Surplus[] {
  const found: Surplus[] = [];
  const free = [...xml.matchAll(READ_OVER)].map((
    { 0: element, 1: name, index },
  ) => ({
    start: index + Number(name === "data"),
    end: index + element.length,
  }));
  const isFree = (at: number) =>
    free.some(({ start, end }) => at >= start && at < end);
  for (const { 0: tag, 1: name, 2: empty, index } of xml.matchAll(TAG)) {
    if (isFree(index)) continue;
    const end = index + tag.length;
    const put = (what: string, at: number, text: string) =>
      found.push([
        `${what} in <${name}> at ${index}`,
        xml.slice(0, at) + text + xml.slice(at),
      ]);
    put("attribute", end - 1 - empty.length, ' surplus="1"');
    if (empty !== "" || isFree(end)) continue;
    put("element", end, "<surplus/>");
    const isContainer = /^<[^/]/.test(xml.slice(end));
    if (isContainer) put("text", end, "surplus");
  }
  return found;
}

/** Elements of any content: data, and what only the service sets. */
const FREE = [
  ...["data", "example", "current_price", "lowest_price", "review"],
  ...["updated_at", "disabled_at", "failing_since", "last_error"],
];
const READ_OVER = new RegExp(
  `<(${FREE.join("|")})>(?!<product>).*?</\\1>`,
  "gs",
);
const TAG = /<(\w+)(?:\s[^<>]*?)?(\/?)>/g;

/** Adds one member to each object. */
function surplusInJson(body: Json, path: string[] = []): Surplus[] {
  if (typeof body !== "object" || body === null) return [];
  return Object.entries(body).flatMap(([name, value]) =>
    FREE.includes(name) ? [] : surplusInJson(value, [...path, name])
  ).concat(Array.isArray(body) ? [] : [[`/${path.join("/")}`, ""]]);
}

Deno.test("nothing in a request is ignored", async (t) => {
  await using app = await boot({ config: { operatorKey: "op", rateLimit: 0 } });
  const call = async (target: Target, body: string, type: string) => {
    const { method, path } = target;
    const answer = await fetch(
      app.url + path.replace(/\{(\w+)\}/g, (_, name) => PARAMETERS[name]) +
        (path.endsWith("bulk_products") ? "?v=1.1&dry_run=true" : ""),
      {
        method,
        body,
        headers: {
          "X-Service-Auth": path.startsWith("/operator_api") ? "op" : app.key,
          "Content-Type": type,
          Accept: "application/json",
        },
      },
    );
    const text = await answer.text();
    const { details = [] } = JSON.parse(text).error ?? {};
    return {
      text,
      codes: details.map(({ code }: { code: string }) => code) as string[],
    };
  };
  for (const target of targets()) {
    const body = whole(target.schema);
    const url = app.url + target.path.replace(/\{\w+\}/g, "x");
    const xml = xmlOfSent(JSON.stringify(body), {
      method: target.method,
      url,
    });
    const inXml = surplusInXml(xml)
      .map((one) => ["text/xml", ...one] as const);
    const inJson = surplusInJson(body).map(([path]) => {
      const names = path.split("/").filter((name) => name !== "");
      const changedBody = changed(body, [...names, "surplus"], "x");
      return ["application/json", path, JSON.stringify(changedBody)] as const;
    });
    await t.step(`${target.method} ${target.path}`, async () => {
      assert(inXml.length > 0 && inJson.length > 0);
      for (const [type, what, document] of [...inXml, ...inJson]) {
        const { codes, text } = await call(target, document, type);
        const before = await call(
          target,
          type === "text/xml" ? xml : JSON.stringify(body),
          type,
        );
        const count = (all: string[]) =>
          all.filter((code) => SURPLUS.test(code)).length;
        assert(
          count(codes) > count(before.codes),
          `${type}, ${what}: ${text}\n${document}`,
        );
      }
    });
  }
});
