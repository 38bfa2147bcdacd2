/**
 * Clients that generators make from the OpenAPI description: each uploads 250
 * products, waits for the status, pages through the list, reads a 422 and an
 * event as the operator sent it. Not part of `deno task check`, because the
 * generators come from PyPI and Maven Central: `deno task contracts`.
 */
import { assert, assertEquals } from "@std/assert";
import { openApi } from "../../src/contracts/openapi.ts";
import { ENDPOINTS } from "../../src/http/routes.ts";
import { VERSION } from "../../src/version.ts";
import { boot } from "../support/app.ts";
import { temporaryFolder } from "../support/process.ts";
import { present, run } from "../support/foreign.ts";

const PYTHON_CLIENT = "openapi-python-client==0.29.1";
const GENERATOR = "7.25.0";
const JAR = "https://repo1.maven.org/maven2/org/openapitools/" +
  `openapi-generator-cli/${GENERATOR}/openapi-generator-cli-${GENERATOR}.jar`;
const CLIENTS = new URL("clients", import.meta.url).pathname;
/** Where the wheel of the Python client is kept; `deno task release` takes it. */
const WHEELS = new URL("../../bin/clients", import.meta.url).pathname;

type Step = [program: string, ...args: string[]];

interface Generated {
  /** The command that generates it. */
  name: string;
  /** Programs and networks that may be missing; the client is then skipped. */
  needs: Step[];
  /** Runs in a folder with openapi.json and venv/. */
  makes: Step[];
  program: Step;
}

const HAS_PYTHON: Step = ["python3", "-m", "venv", "--help"];
const HAS_JAVA: Step = ["java", "-version"];
const HAS_JAR: Step = ["curl", "-sfI", JAR];
const GET_JAR: Step = ["curl", "-sfO", JAR];

const generate = (language: string, ...more: string[]): Step => [
  "java",
  "-jar",
  `openapi-generator-cli-${GENERATOR}.jar`,
  "generate",
  "-iopenapi.json",
  `-g${language}`,
  "-oclient",
  ...more,
];

const ALL: Generated[] = [
  {
    name: "openapi-python-client",
    needs: [
      HAS_PYTHON,
      ["python3", "-m", "pip", "index", "versions", "openapi-python-client"],
    ],
    makes: [
      ["venv/bin/pip", "install", "-q", PYTHON_CLIENT],
      [
        "venv/bin/openapi-python-client",
        "generate",
        "--path=openapi.json",
        "--output-path=client",
      ],
      [
        "venv/bin/pip",
        "wheel",
        "-q",
        "--no-deps",
        "--wheel-dir=wheel",
        "./client",
      ],
      ["sh", "-c", "venv/bin/pip install -q wheel/*.whl"],
      ["sh", "-c", `mkdir -p "${WHEELS}" && cp wheel/*.whl "${WHEELS}"`],
    ],
    program: ["venv/bin/python", `${CLIENTS}/openapi_python_client.py`],
  },
  {
    name: "openapi-generator for Python",
    needs: [HAS_PYTHON, HAS_JAVA, HAS_JAR],
    makes: [
      GET_JAR,
      generate("python"),
      ["venv/bin/pip", "install", "-q", "./client"],
    ],
    program: ["venv/bin/python", `${CLIENTS}/openapi_generator.py`],
  },
  {
    name: "openapi-generator for PHP",
    // Debian: php-cli, php-curl, php-mbstring, php-guzzlehttp-guzzle
    needs: [
      ["php", "-r", "require 'GuzzleHttp/autoload.php';"],
      HAS_JAVA,
      HAS_JAR,
    ],
    makes: [GET_JAR, generate("php")],
    program: ["php", `${CLIENTS}/openapi_generator.php`],
  },
  {
    name: "openapi-generator for Java",
    needs: [["mvn", "--version"], HAS_JAR],
    makes: [
      GET_JAR,
      generate("java", "--library=native"),
      ["mvn", "-q", "-fclient", "package", "-Dmaven.test.skip"],
      [
        "mvn",
        "-q",
        "-fclient",
        "dependency:copy-dependencies",
        "-DoutputDirectory=../lib",
      ],
      ["sh", "-c", "cp client/target/*.jar lib"],
    ],
    program: ["java", "-cp", "lib/*", `${CLIENTS}/OpenApiGenerator.java`],
  },
];

for (const { name, needs, makes, program } of ALL) {
  let isPresent = true;
  for (const probe of needs) isPresent &&= await present(name, probe);
  const title = `a client of ${name} uploads, follows, pages, reads a 422`;
  Deno.test({
    name: title,
    ignore: !isPresent,
    fn: () => tryOut(makes, program),
  });
}

async function tryOut(makes: readonly Step[], program: Step): Promise<void> {
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  await Deno.writeTextFile(
    `${cwd}/openapi.json`,
    openApi(ENDPOINTS, VERSION),
  );
  await run("python3", ["-m", "venv", "venv"], { cwd });
  for (const [command, ...args] of makes) {
    const { success, text } = await run(command, args, { cwd });
    assert(success, text);
  }
  await using app = await boot({ config: { operatorKey: "operator" } });
  const [command, ...args] = program;
  const keys = [app.key, "operator"];
  const { text } = await run(command, [...args, app.url, ...keys], { cwd });
  assertEquals(
    text.trim().split("\n"),
    [
      "completed 250",
      "250",
      "50",
      "11",
      "record_invalid /products/1/sku duplicate_sku",
      '{"lines": [{"quantity": 7}], "notes": [], "paid": true, "total": "7.50"}',
    ],
    text,
  );
}
