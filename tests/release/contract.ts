/**
 * What clients and operators rely on in a release, as sorted lines that can be
 * compared: each operation, parameter, element, word of a list, setting and
 * column.
 *
 * Our own code, because `api-smart-diff` 1.0.6, tried on our description, calls
 * the removal of an element from an answer compatible, and misses the removal
 * of a path.
 */
import "../support/built.ts";
import { parse } from "@std/semver";
import { SETTINGS } from "../../src/config.ts";
import { openApi } from "../../src/contracts/openapi.ts";
import { MIGRATIONS } from "../../src/database/migrations.ts";
import { SCHEMA } from "../../src/database/schema.ts";
import { ERRORS } from "../../src/lib/errors.ts";
import { ENDPOINTS } from "../../src/http/routes.ts";
import { VERSION } from "../../src/version.ts";

export interface Release {
  version: string;
  /** Facts that clients and operators rely on. */
  facts: readonly string[];
}

export interface Differences {
  added: string[];
  removed: string[];
  /** Differences that affect a client or an operator of the former release. */
  incompatible: string[];
  /** Differences of tables that no migration applies to existing ones. */
  unmigrated: string[];
}

/** A part of the OpenAPI description, in any form. */
type Part = ReturnType<typeof JSON.parse>;
type Side = "request" | "answer";

const METHODS = ["get", "post", "put", "delete", "patch", "head"];
const REQUIRED = " required";

/** The facts that this source promises. */
export function thisRelease(): Release {
  const facts = new Set([
    ...contractFacts(JSON.parse(openApi(ENDPOINTS, VERSION))),
    ...Object.keys(ERRORS).map((code) => `error ${code}`),
    ...Object.values(SETTINGS).map(({ variable }) => `setting ${variable}`),
    ...SCHEMA.flatMap(({ name, columns, key, unique = [], indexes = {} }) => [
      ...Object.entries(columns).map(([column, type]) =>
        `column ${name}.${column} ${type}`
      ),
      ...[key, ...unique].map((columns) => `index ${name} ${columns}`),
      ...Object.entries(indexes).map(([index, on]) =>
        `index ${name} ${index} ${JSON.stringify(on)}`
      ),
    ]),
    ...MIGRATIONS.map(({ name }) => `migration ${name}`),
  ]);
  return { version: VERSION, facts: [...facts].sort() };
}

/** The facts of an OpenAPI description, without limits of lengths and numbers. */
export function contractFacts(api: Part): string[] {
  const facts: string[] = [];
  const walked = new Set<string>();
  const walk = (side: Side, at: string, schema: Part): void => {
    const name = schema.$ref?.split("/").at(-1);
    if (name !== undefined) {
      facts.push(`${at}: ${name}`);
      const shared = `${side} ${name}`;
      if (walked.has(shared)) return;
      walked.add(shared);
      return walk(side, shared, api.components.schemas[name]);
    }
    if (schema.type !== undefined) facts.push(`${at}: ${schema.type}`);
    for (const word of schema.enum ?? []) facts.push(`${at} = ${word}`);
    for (const name of schema.required ?? []) {
      facts.push(`${at}/${name}${REQUIRED}`);
    }
    for (const [name, part] of Object.entries(schema.properties ?? {})) {
      walk(side, `${at}/${name}`, part);
    }
    if (schema.items) walk(side, `${at}[]`, schema.items);
    for (const part of schema.oneOf ?? schema.anyOf ?? []) walk(side, at, part);
  };
  const walkContent = (side: Side, at: string, content: Part = {}) => {
    for (const [type, { schema }] of Object.entries<Part>(content)) {
      facts.push(`${at} as ${type}`);
      if (schema) walk(side, at, schema);
    }
  };
  for (
    const [path, operations] of [
      ...Object.entries<Part>(api.paths),
      ...Object.entries<Part>(api.webhooks),
    ]
  ) {
    // The service sends a webhook's body.
    const sent = path in api.webhooks ? "answer" : "request";
    for (const method of METHODS.filter((method) => operations[method])) {
      const operation = operations[method];
      const at = `${method.toUpperCase()} ${path}`;
      facts.push(at);
      for (const parameter of operation.parameters ?? []) {
        const name = `request ${at} ${parameter.in} ${parameter.name}`;
        facts.push(name);
        if (parameter.required) facts.push(name + REQUIRED);
        walk("request", name, parameter.schema);
      }
      walkContent(sent, `${sent} ${at}`, operation.requestBody?.content);
      for (const [status, part] of Object.entries<Part>(operation.responses)) {
        if (Number(status) >= 300) continue;
        walkContent("answer", `answer ${at} ${status}`, part.content);
      }
    }
  }
  return facts;
}

/** Nobody relies on it, but an existing table needs it, too. */
function isIndex(fact: string): boolean {
  return fact.startsWith("index ");
}

/** The differences between two releases. */
export function differences(former: Release, next: Release): Differences {
  const before = new Set(former.facts);
  const after = new Set(next.facts);
  const added = [...after.difference(before)];
  const removed = [...before.difference(after)];
  const demanded = (fact: string) =>
    fact.startsWith("request ") && fact.endsWith(REQUIRED);
  // A requirement inside a new part breaks nothing: no client used that part
  // before.
  const parent = (fact: string) =>
    /^(.+) (?:query|header|path) |^(.+)\/[^/]+$/.exec(fact)!.slice(1)
      .find((part) => part !== undefined)!;
  const isMigrated = added.some((fact) => fact.startsWith("migration "));
  const isOld = (fact: string) =>
    former.facts.some((old) => old.startsWith(parent(fact)));
  return {
    added,
    removed,
    incompatible: [
      ...removed.filter((fact) => !demanded(fact) && !isIndex(fact))
        .map((fact) => `- ${fact}`),
      ...added.filter((fact) => demanded(fact) && isOld(fact))
        .map((fact) => `+ ${fact}`),
    ],
    unmigrated: isMigrated
      ? []
      : [...added, ...removed].filter((fact) =>
        isIndex(fact) || fact.startsWith("column ")
      ),
  };
}

/**
 * Whether a version may break the promises of another one (semver.org, 2.0.0).
 */
export function mayBreak(former: string, next: string): boolean {
  const [before, after] = [parse(former), parse(next)];
  return after.major > before.major ||
    (before.major === 0 && after.minor > before.minor);
}
