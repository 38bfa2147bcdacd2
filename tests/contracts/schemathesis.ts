/**
 * Schemathesis makes valid and invalid requests from the OpenAPI description,
 * and checks the answers against it. Not part of `deno task check`, because it
 * comes from PyPI: `deno task contracts`.
 */
import { assert } from "@std/assert";
import { boot, product, textAt } from "../support/app.ts";
import { present, run } from "../support/foreign.ts";
import { temporaryFolder } from "../support/process.ts";

const PACKAGES = ["schemathesis==4.32.5"];
const OPERATOR_KEY = "operator-key-of-the-contract-tests";

/**
 * Checks that are left out:
 * - `positive_data_acceptance`: no schema shows which cursors and webhook URLs
 *   are valid, and which fields may be combined;
 * - `missing_required_header`: after some requests without a key the answer is
 *   429, which this check does not accept as a refusal.
 */
const LEFT_OUT = "positive_data_acceptance,missing_required_header";

const isPresent = await present("Schemathesis", [
  "python3",
  "-m",
  "pip",
  "index",
  "versions",
  "schemathesis",
]);

/** Installs Schemathesis into a folder. */
async function installed(folder: string): Promise<string> {
  const made = await run("python3", ["-m", "venv", folder]);
  assert(made.success, made.text);
  const pip = await run(`${folder}/bin/pip`, ["install", "-q", ...PACKAGES]);
  assert(pip.success, pip.text);
  return `${folder}/bin/schemathesis`;
}

for (const access of ["seller", "operator"] as const) {
  const name =
    `Schemathesis finds no answer to the ${access} outside the contract`;
  Deno.test({ name, ignore: !isPresent, fn: () => tryOut(access) });
}

async function tryOut(access: "seller" | "operator"): Promise<void> {
  await using folder = await temporaryFolder();
  const schemathesis = await installed(`${folder.path}/venv`);
  await using app = await boot({ config: { operatorKey: OPERATOR_KEY } });
  const uploaded = await app.upload(product("A") + product("B"));
  await Deno.writeTextFile(
    `${folder.path}/schemathesis.toml`,
    `continue-on-failure = true
[parameters]
"path.transaction_id" = "${textAt(uploaded.xml, "transaction_id")}"
"path.sku_or_id" = "A"
"path.seller" = "acme"
[checks.negative_data_rejection]
# 413: more than 250 products
expected-statuses = [400, 401, 403, 404, 405, 409, 413, 415, 422, 429]
`,
  );
  const { success, text } = await run(schemathesis, [
    "--config-file=schemathesis.toml",
    "run",
    `${app.url}/openapi.json`,
    `--header=X-Service-Auth: ${access === "seller" ? app.key : OPERATOR_KEY}`,
    `--include-path-regex=^/${access}_api`,
    "--header=Accept: application/json",
    "--phases=examples,coverage",
    `--exclude-checks=${LEFT_OUT}`,
    "--seed=1",
  ], { cwd: folder.path });
  assert(success, text.slice(-20_000));
}
