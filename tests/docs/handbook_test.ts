/** Checks that the chapters of the handbook agree with the code. */
import "../support/built.ts";
import {
  assert,
  assertEquals,
  assertGreater,
  assertStringIncludes,
} from "@std/assert";
import { COMMANDS } from "../../src/cli/commands.ts";
import { NOT_COPIED, TABLES } from "../../src/database/copy.ts";
import { SCALAR_NAMES, SCALAR_RULES } from "../../src/catalogue/fields.ts";
import { SETTINGS } from "../../src/config.ts";
import { ENDPOINTS } from "../../src/http/routes.ts";
import { imageTypes } from "../../src/images/image_types.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/lib/durations.ts";
import { ANSWER_TIMEOUT_MS, RETRIES } from "../../src/webhooks/webhook.ts";
import { Metrics } from "../../src/monitoring/metrics.ts";
import {
  blocks,
  chapter,
  chapters,
  readme,
  tables,
} from "../support/handbook.ts";
import { validateResponse } from "../support/schemas.ts";

Deno.test("the chapter on products lists every attribute that can be set", () => {
  const [, list] = /The attributes are (.*?)\. The rules/s
    .exec(chapter("products"))!;
  assertEquals(
    [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort(),
    SCALAR_NAMES.filter((name) => SCALAR_RULES[name].attribute).sort(),
  );
});

Deno.test("the chapter on architecture names files that exist", async () => {
  const paths = chapter("architecture").matchAll(/`(src\/[\w/]+(\.ts)?)`/g);
  for (const [, path] of paths) {
    await Deno.stat(new URL(`../../${path}`, import.meta.url));
  }
});

Deno.test("the chapter on webhooks says when a delivery is tried again", () => {
  const delays = RETRIES.delaysMs.map((ms) =>
    ms < MINUTE_MS
      ? `${ms / SECOND_MS} s`
      : ms < HOUR_MS
      ? `${ms / MINUTE_MS} min`
      : `${ms / HOUR_MS} h`
  );
  const list = `${delays.slice(0, -1).join(", ")} and ${delays.at(-1)}`;
  assertStringIncludes(
    chapter("webhooks").replace(/\s+/g, " "),
    `retries after ${list} (`,
  );
});

Deno.test("the chapter on webhooks says how long an endpoint may take", () => {
  assertStringIncludes(
    chapter("webhooks"),
    `**Answer with any 2xx status within ${ANSWER_TIMEOUT_MS / SECOND_MS} s.**`,
  );
});

Deno.test("the chapter on architecture says what bounds each table", () => {
  const bounded = tables(chapter("architecture"), "tables", "bound")
    .flatMap(([names]) => names.split(", "));
  const tablesThatAre = [...TABLES.map(({ name }) => name), ...NOT_COPIED];
  assertEquals(bounded.sort(), tablesThatAre.sort());
  const bounds = tables(chapter("architecture"), "tables", "bound").flat();
  for (const { variable } of Object.values(SETTINGS)) {
    const keeps = variable.endsWith("_DAYS");
    if (keeps) assertStringIncludes(bounds.join(" "), variable);
  }
});

Deno.test("chapters name only existing settings, with valid values", () => {
  const settings = new Map(
    Object.values(SETTINGS).map((setting) => [setting.variable, setting]),
  );
  for (const { file, text } of chapters()) {
    for (const [name] of text.matchAll(/\bSELLER_[A-Z0-9_]*[A-Z0-9]\b/g)) {
      assert(settings.has(name), `${file}: ${name}`);
    }
    for (
      const [, name, value] of text.matchAll(/\b(SELLER_\w+)='?([^\s`']+)/g)
    ) {
      // Placeholders for a password and for the port of PostgreSQL.
      const filled = value.replace("…", "x").replace(":PORT", ":5432");
      settings.get(name)!.parse(filled); // throws if it is invalid
    }
  }
});

Deno.test("chapters run only commands that exist", () => {
  const known = COMMANDS.map(({ name }) => name);
  let seen = 0;
  for (const { file, text } of [readme(), ...chapters()]) {
    for (const { code } of blocks(text)) {
      for (
        const [, words] of code.matchAll(
          /^.*seller-(?:interface|admin) ([a-z].*)$/gm,
        )
      ) {
        const command = known.find((name) =>
          `${words} `.startsWith(`${name} `)
        );
        assert(command !== undefined, `${file}: ${words}`);
        seen++;
      }
    }
  }
  assertGreater(seen, 2);
});

Deno.test("the metrics that the chapters name exist", () => {
  const known = new Metrics("sqlite").all.map(({ name }) => name);
  let seen = 0;
  for (const { file, text } of chapters()) {
    for (
      const [, name] of text.matchAll(
        /`((?:seller|process)_\w+_(?:total|seconds|bytes|ready))\b/g,
      )
    ) {
      assert(known.includes(name), `${file}: ${name}`);
      seen++;
    }
  }
  assertGreater(seen, 15);
});

Deno.test("the log lines that chapters quote are logged", async () => {
  const logged = new Set<string>();
  for await (const text of sources(new URL("../../src/", import.meta.url))) {
    for (
      const [, event] of text.matchAll(
        /(?:error|warn|info|logDone|log\[level\])\((?:\s*|exchange, )"(\w+)"/g,
      )
    ) {
      logged.add(event);
    }
  }
  const reported = [
    ...tables(chapter("monitoring"), "line", "says"),
    ...tables(
      chapter("troubleshooting"),
      "what sellers notice",
      "line in the log",
      "cause",
      "remedy",
    ).map(([, line]) => [line]),
  ].flatMap(([lines]) => [...lines.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g)])
    .map(([event]) => event);
  assertGreater(reported.length, 20);
  for (const event of reported) assert(logged.has(event), event);
});

async function* sources(folder: URL): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (name === "dist") continue;
    const url = new URL(isDirectory ? `${name}/` : name, folder);
    if (isDirectory) yield* sources(url);
    else if (name.endsWith(".ts")) yield await Deno.readTextFile(url);
  }
}

Deno.test("chapters name every route with its method, and no others", () => {
  const named = new Set(
    chapters().flatMap(({ text }) =>
      [...text.matchAll(/`(GET|POST|PUT|DELETE) (\/[^`?\s]*)[^`]*`/g)]
        .map(([, method, path]) => `${method} ${path}`)
    ),
  );
  const routes = ENDPOINTS
    .map(({ method, path }) => `${method} ${path.replace("?", "")}`);
  assertEquals([...named].sort(), routes.sort());
});

Deno.test("the chapter on images names the types that are accepted", () => {
  assertStringIncludes(
    chapter("images"),
    `The service accepts ${imageTypes("and")} files`,
  );
});

/** Files with the versions of packages. */
const PINS = [
  "deno.json",
  "tests/xml/suite/deno.json",
  "tests/lint/regular_expressions/deno.json",
  "tests/support/postgres_server/deno.json",
];

Deno.test("the chapter on dependencies lists exactly the packages, as pinned", async () => {
  const pinned = await Promise.all(PINS.map(async (path) => {
    const file = new URL(`../../${path}`, import.meta.url);
    const { imports } = JSON.parse(await Deno.readTextFile(file));
    return Object.values<string>(imports)
      .map((target) => /^npm:(@?[^@]+@[^/]+)/.exec(target)![1]);
  }));
  const listed = tables(chapter("dependencies"), "name", "package", "why")
    .map(([, listed]) => listed).filter((listed) => listed.includes("@"));
  assertEquals(listed.sort(), [...new Set(pinned.flat())].sort());
});

Deno.test("every answer shown in a chapter is valid", () => {
  let seen = 0;
  for (const { file, text } of chapters()) {
    for (const { language, code } of blocks(text)) {
      if (language !== "xml") continue;
      // A block may show several answers, one in each line.
      for (const document of code.split(/(?=<\?xml )/)) {
        if (document.startsWith("<event>")) continue; // a delivery
        assertEquals(validateResponse(document), null, `${file}: ${document}`);
        seen++;
      }
    }
  }
  assertGreater(seen, 10);
});
