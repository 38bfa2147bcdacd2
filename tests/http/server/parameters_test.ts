/** The query parameters, as openapi.json describes them. */
import { assert, assertEquals } from "@std/assert";
import { ENDPOINTS } from "../../../src/http/routes.ts";
import {
  type QueryParameter,
  ROUTE_FILTER,
} from "../../../src/http/server/parameters.ts";

/** The parameters whose schema has limits, with the schema. */
function limited(): [QueryParameter<unknown>, Limits][] {
  const all = new Set(ENDPOINTS.flatMap(({ parameters = [] }) => parameters));
  return [...all].flatMap((parameter) => {
    const { type, format, enum: words } = parameter.schema ?? {};
    const isLimited = format === undefined && words === undefined &&
      (type === "string" || type === "integer");
    // The cursor of a list has no limits; a route also has a pattern.
    const isOther = parameter.name === "after" || parameter === ROUTE_FILTER;
    return isLimited && !isOther && "parse" in parameter
      ? [[
        parameter as QueryParameter<unknown>,
        parameter.schema as unknown as Limits,
      ]]
      : [];
  });
}

interface Limits {
  type: "string" | "integer";
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

/** The texts at the limits of a schema, and those just beyond them. */
function textsAt(schema: Limits): { valid: string[]; invalid: string[] } {
  if (schema.type === "integer") {
    const { minimum, maximum } = schema;
    const ends = [minimum, maximum].filter((end) => end !== undefined);
    const beyond = [
      minimum! - 1,
      ...maximum === undefined ? [] : [maximum + 1],
    ];
    return { valid: ends.map(String), invalid: beyond.map(String) };
  }
  // Zeros are also a GTIN.
  const zeros = (count: number) => "0".repeat(count);
  const { minLength = 0, maxLength } = schema;
  return {
    valid: [zeros(minLength), zeros(maxLength!)],
    invalid: [
      ...minLength === 0 ? [] : [zeros(minLength - 1)],
      zeros(maxLength! + 1),
    ],
  };
}

Deno.test("a query parameter accepts a value at the limits of its schema, and none beyond", () => {
  const parameters = limited();
  for (const [{ name, about, parse }, schema] of parameters) {
    const { valid, invalid } = textsAt(schema);
    const isAccepted = (text: string) => parse(text) !== null;
    assert(valid.length > 0 && invalid.length > 0, name);
    assertEquals(valid.filter((text) => !isAccepted(text)), [], about);
    assertEquals(invalid.filter(isAccepted), [], about);
  }
  const names = new Set(parameters.map(([{ name }]) => name));
  assertEquals(
    [...names].sort(),
    [
      "at_most",
      "gtin",
      "limit",
      "name",
      "q",
      "reference",
      "seller",
      "wait",
      "who",
    ],
  );
});

Deno.test("a route is a method and a path of at most 150 characters", () => {
  const isAccepted = (text: string) => ROUTE_FILTER.parse(text) !== null;
  assert(isAccepted("GET /".padEnd(150, "a")));
  assert(!isAccepted("GET /".padEnd(151, "a")));
  assert(!isAccepted("HEAD /"));
  assert(!isAccepted("/seller_api/products"));
});
