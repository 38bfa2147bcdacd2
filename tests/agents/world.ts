/** The service of one scenario, the folder of its program, and its runs. */
import type { Client, OperatorClient } from "../../src/client/mod.ts";
import { ROLES } from "../../src/config.ts";
import { systemClock } from "../../src/deps.ts";
import { imageHost } from "../../src/sandbox/image_host.ts";
import { boot, type TestApp } from "../support/app.ts";
import { temporaryFolder } from "../support/process.ts";
import { RecordingProxy } from "./proxy.ts";

const RUN_MS = 120_000;
const OPERATOR_KEY = "operator";
const IMAGE_LIMIT = 1_048_576;
const INHERITED = ["PATH", "HOME", "DENO_DIR", "XDG_CACHE_HOME", "TMPDIR"];

/** A program that has ended. */
export interface Run {
  code: number;
  /** What it printed, by line, without empty lines. */
  lines: string[];
  /** Its standard error. */
  errors: string;
}

export interface NewSeller {
  key: string;
  /** The secret of its webhooks. */
  secret: string;
}

export class World implements AsyncDisposable {
  /** Where the program runs. */
  readonly folder: string;
  readonly proxy: RecordingProxy;
  readonly operator: OperatorClient;
  /** Base URL of images: `/good/NAME.png` and the other kinds. */
  readonly images: string;
  /** More variables for the program. */
  readonly variables: Record<string, string> = {};
  readonly #app: TestApp;
  readonly #stack: AsyncDisposableStack;
  #program: string[] = [];

  private constructor(
    app: TestApp,
    proxy: RecordingProxy,
    places: { folder: string; images: string },
    stack: AsyncDisposableStack,
  ) {
    this.#app = app;
    this.proxy = proxy;
    this.folder = places.folder;
    this.images = places.images;
    this.#stack = stack;
    this.operator = app.operator({ key: OPERATOR_KEY });
  }

  /** Starts the service; programs reach it at `port`, 0 for any. */
  static async open(port = 0): Promise<World> {
    await using stack = new AsyncDisposableStack();
    const app = stack.use(
      await boot({
        config: {
          roles: ROLES,
          operatorKey: OPERATOR_KEY,
          imageLimit: IMAGE_LIMIT,
        },
      }),
    );
    const proxy = stack.use(await RecordingProxy.start(app.url, port));
    const folder = stack.use(await temporaryFolder());
    const host = stack.use(Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      imageHost({ clock: systemClock, imageLimit: IMAGE_LIMIT }),
    ));
    const images = `http://127.0.0.1:${host.addr.port}/images`;
    const places = { folder: folder.path, images };
    return new World(app, proxy, places, stack.move());
  }

  /** Adds a seller; its key is the one of the program. */
  async addSeller(name: string): Promise<Client & NewSeller> {
    const { seller } = await this.operator.sellers.create({ seller: { name } });
    const { api_key: key, webhook_secret: secret } = seller;
    this.variables.API_KEY = key;
    return Object.assign(this.#app.client({ key }), { key, secret });
  }

  /** A client with any key. */
  client(key: string): Client {
    return this.#app.client({ key });
  }

  /** Resolves when the operator's feed shows every change. */
  allShown(): Promise<void> {
    return this.#app.allShown();
  }

  get environment(): Record<string, string> {
    return {
      BASE_URL: this.proxy.url,
      OPERATOR_KEY,
      ...this.variables,
    };
  }

  async write(name: string, content: string | Uint8Array): Promise<void> {
    const path = `${this.folder}/${name}`;
    await Deno.mkdir(path.replace(/\/[^/]*$/, ""), { recursive: true });
    await (typeof content === "string"
      ? Deno.writeTextFile(path, content)
      : Deno.writeFile(path, content));
  }

  /** The text of a file of the program; empty if there is none. */
  async read(name: string): Promise<string> {
    try {
      return await Deno.readTextFile(`${this.folder}/${name}`);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return "";
      throw error;
    }
  }

  /** Puts the typed client into the folder. */
  async addClient(): Promise<void> {
    for (const file of ["client.js", "client.d.ts"]) {
      const answer = await fetch(`${this.#app.url}/docs/${file}`);
      await this.write(file, await answer.text());
    }
  }

  /** Puts the program into the folder. */
  async install(program: string, text: string): Promise<void> {
    const name = program.split("/").at(-1)!;
    await this.addClient();
    await this.write(name, text);
    this.#program = [...interpreterOf(name), name];
  }

  /** Starts the program. */
  start(args: readonly string[] = []): Deno.ChildProcess {
    const [command, ...words] = this.#program;
    const inherited = INHERITED.map((name) => [name, Deno.env.get(name)]);
    return new Deno.Command(command, {
      args: [...words, ...args],
      cwd: this.folder,
      clearEnv: true,
      env: {
        ...Object.fromEntries(inherited.filter(([, value]) => value)),
        ...this.environment,
        NO_COLOR: "1",
      },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  }

  /** Runs the program to its end; one that takes too long is killed. */
  async run(args: readonly string[] = []): Promise<Run> {
    const child = this.start(args);
    const late = setTimeout(() => child.kill("SIGKILL"), RUN_MS);
    const { code, stdout, stderr } = await child.output();
    clearTimeout(late);
    const decoder = new TextDecoder();
    const lines = linesOf(decoder.decode(stdout));
    return { code, lines, errors: decoder.decode(stderr) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** The lines of a text without space at their ends, and without empty ones. */
export function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim())
    .filter((line) => line !== "");
}

function interpreterOf(program: string): string[] {
  const extension = /\.(\w+)$/.exec(program)?.[1] ?? "";
  switch (extension) {
    case "py":
      return [Deno.env.get("PYTHON") ?? "python3"];
    case "js":
    case "mjs":
      return ["node"];
    case "sh":
      return ["bash"];
    case "ts":
      return [Deno.execPath(), "run", "-A", "--no-config", "--no-check"];
    default:
      throw new Error(`${program}: write a .py, .mjs, .sh or .ts file.`);
  }
}
