/** Holds the README and the code together. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { COMMANDS } from "../src/cli/commands.ts";
import { SETTINGS } from "../src/config.ts";
import { ERROR_ABOUT } from "../src/contracts/docs.ts";
import {
  DETAIL_CODES,
  ERROR_STATUS,
  type ErrorCode,
} from "../src/lib/errors.ts";
import { IMAGE_CODES } from "../src/images/image.ts";
import { TRIGGERS } from "../src/webhooks/webhook.ts";
import { ROUTES } from "../src/http/routes.ts";

const readme = await Deno.readTextFile(
  new URL("../README.md", import.meta.url),
);

/** Rows of every table with these headers, cells without the marks of code. */
function table(...header: string[]): string[][] {
  const tables = readme.split("\n\n").map((block) =>
    block.split("\n").map((line) =>
      line.replace(/^\| ?| ?\|$/g, "").trim().split(/ *\| */)
        .map((cell) => cell.replaceAll("`", ""))
    )
  );
  return tables.filter(([first]) => first.join() === header.join())
    .flatMap((rows) => rows.slice(2));
}

Deno.test("the README lists every error code with its status and meaning", () => {
  assertEquals(
    table("status", "code", "when"),
    (Object.keys(ERROR_STATUS) as ErrorCode[])
      .map((code) => [`${ERROR_STATUS[code]}`, code, ERROR_ABOUT[code]]),
  );
});

Deno.test("the README lists every detail and image code with its meaning", () => {
  assertEquals(
    table("code", "meaning"),
    [...Object.entries(DETAIL_CODES), ...Object.entries(IMAGE_CODES)],
  );
});

Deno.test("the README lists every setting with its flag and default", () => {
  assertEquals(
    table("variable", "flag", "default", "meaning").map((row) =>
      row.slice(0, 3)
    ),
    Object.values(SETTINGS).map(({ variable, flag, fallback }) => [
      variable,
      flag === undefined ? "" : `--${flag}`,
      fallback || "none",
    ]),
  );
});

Deno.test("the README lists every command and no other", () => {
  const listed = table("command", "does")
    .map(([words]) => /^[a-z-]+( [a-z][a-z-]+)?/.exec(words)![0]);
  assertEquals(
    [...new Set(listed)].sort(),
    COMMANDS.map(({ name }) => name).sort(),
  );
});

Deno.test("the README names every route and every trigger", () => {
  for (const { method, path } of ROUTES) {
    assertStringIncludes(readme, method);
    const last = path.replace("?", "").split("/").slice(-2).join("/");
    assertStringIncludes(readme, last);
  }
  for (const trigger of TRIGGERS) assertStringIncludes(readme, trigger);
});

Deno.test("the README names every package that is imported, as pinned", async () => {
  const { imports } = JSON.parse(
    await Deno.readTextFile(new URL("../deno.json", import.meta.url)),
  );
  for (const target of Object.values<string>(imports)) {
    const [name] = /^npm:(@?[^@]+@[\d.]+)/.exec(target)!.slice(1);
    assertStringIncludes(readme, name);
  }
});
