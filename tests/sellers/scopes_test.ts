/** Every route of sellers, with every scope. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { ROUTES } from "../../src/http/routes.ts";
import {
  type NeededScope,
  type Scope,
  SCOPES,
} from "../../src/sellers/scopes.ts";
import { addKey } from "../../src/sellers/key_rows.ts";
import { systemDeps } from "../../src/deps.ts";
import { boot, codeOf, textAt } from "../support/app.ts";
import { bothForms } from "../support/forms.ts";

/**
 * The scope that a route needs for changes (or reads), by the beginning of its
 * path.
 */
const SCOPE_OF: readonly [RegExp, NeededScope][] = [
  // Every key may rotate itself, and read its account and published data.
  [/^\/(keys\/:key_id\/rotate|account|categories|triggers)/, "any"],
  [/^\/(bulk_|imports|images|products|contacts|mappings)/, "products"],
  [/^\/(webhooks|events)/, "webhooks"],
  [/^\/keys/, "keys"],
  [/^\/refusals/, "read"],
];

const FOR_SELLERS = ROUTES.filter(({ access }) => access === "seller");
const ALL_SETS = Array.from(
  { length: 2 ** SCOPES.length - 1 },
  (_, n) => SCOPES.filter((_, i) => (n + 1) & 1 << i),
);

function scopeOf(path: string): NeededScope {
  const below = path.replace("/seller_api", "");
  return SCOPE_OF.find(([paths]) => paths.test(below))![1];
}

bothForms.test("each route for sellers documents its scope", () => {
  assertEquals(
    FOR_SELLERS.map(({ method, path, scope }) => `${method} ${path} ${scope}`),
    FOR_SELLERS.map(({ method, path }) => `${method} ${path} ${scopeOf(path)}`),
  );
  const others = ROUTES.filter(({ access }) => access !== "seller");
  assertEquals(others.filter(({ scope }) => scope !== undefined), []);
});

bothForms.test("each route accepts the scopes that it needs and no others", async () => {
  await using app = await boot({ config: { rateLimit: 0, operatorKey: "op" } });
  for (const scopes of ALL_SETS) {
    const { apiKey: key } = await app.app.db.write((tx) =>
      addKey(tx, systemDeps("error"), 1, {
        rights: { scopes, expiresAt: null, networks: [] },
      })
    );
    for (const { method, path } of FOR_SELLERS) {
      const needed = scopeOf(path);
      // The key in the path is another one than that of the request.
      const isRotation = path.endsWith("/rotate");
      const wanted: Scope | null = isRotation
        ? "keys"
        : needed === "any"
        ? null
        : needed;
      const isOpen = wanted === null || scopes.includes(wanted) ||
        (method === "GET" && scopes.includes("read"));
      const target = path.replace(/:\w*id\b/g, crypto.randomUUID())
        .replace(/:\w+/g, "x");
      const answer = await app.call(target, { method, key });
      const what = `${method} ${path} with ${scopes}: ${answer.text}`;
      assertEquals(answer.status === 403, !isOpen, what);
      if (method === "GET") {
        const { status, body } = await fetch(app.url + target, {
          method: "HEAD",
          headers: { "X-Service-Auth": key },
        });
        await body?.cancel();
        assertEquals(status, answer.status, `HEAD ${path}`);
      }
      if (isOpen) continue;
      assertEquals(codeOf(answer), "forbidden");
      assertStringIncludes(textAt(answer.xml, "error/message"), wanted);
    }
    const { status } = await app.call("/operator_api/sellers", { key });
    assertEquals(status, 401);
  }
});
