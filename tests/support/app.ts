/** Boots the real application on a free port with a temporary data folder. */
import "./built.ts";
import { type App, type AppOptions, openApp } from "../../src/app.ts";
import {
  type Client,
  type ClientOptions,
  createClient,
  createOperatorClient,
  type OperatorClient,
} from "../../src/client/mod.ts";
import type { Config } from "../../src/config.ts";
import {
  type Deps,
  jsonLog,
  type LogFields,
  systemDeps,
} from "../../src/deps.ts";
import { type Db, inReach } from "../../src/database/db.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import { parseTree, type XmlElement } from "../../src/xml/decode.ts";
import { inTime, until } from "./clock.ts";
import { testConfig } from "./config.ts";
import { makeDataDir } from "./data_dir.ts";
import { databaseUrlOf } from "./engine.ts";
import { asJson, asXml, isInJson } from "./forms.ts";
import { inThisThread } from "./image_worker.ts";
import { changeHorizon } from "../../src/database/change_feed.ts";

const XML_TYPE = "text/xml; charset=utf-8";

export interface Call {
  method?: string;
  /** The key of the request; null sends none. */
  key?: string | null;
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The root `<service>`; throws if the body is not XML. */
  xml: XmlElement;
}

export class TestApp {
  readonly app: App;
  readonly config: Config;
  readonly key: string;
  readonly sellerId: string;
  /** The seller is the first one in its database. */
  readonly sellerNo = 1;
  /** The log's lines, parsed. */
  readonly log: LogFields[];
  readonly #deps: Deps;

  constructor(
    app: App,
    config: Config,
    seller: { id: string; key: string },
    deps: Deps,
    log: LogFields[],
  ) {
    this.app = app;
    this.config = config;
    this.key = seller.key;
    this.sellerId = seller.id;
    this.log = log;
    this.#deps = deps;
  }

  get url(): string {
    return this.app.url!;
  }

  /** A typed client, with the seller's key unless another one is given. */
  client(options: Partial<ClientOptions> = {}): Client {
    return createClient({ url: this.url, key: this.key, ...options });
  }

  /** A typed client with the operator's key of the tests. */
  operator(options: Partial<ClientOptions> = {}): OperatorClient {
    return createOperatorClient({ url: this.url, key: "operator", ...options });
  }

  /** Another seller's key. */
  async addSeller(name: string): Promise<string> {
    const { apiKey } = await this.app.db.write(
      (tx) => addSeller(tx, this.#deps, name),
    );
    return apiKey;
  }

  /** Resolves when the operator's feed shows every change. */
  async allShown(): Promise<void> {
    await until(() => allShown(this.app.db), "all changes below the horizon");
  }

  async call(path: string, call: Call = {}): Promise<Answer> {
    const { method = "GET", key = this.key, body, headers = {} } = call;
    if (/^\/operator_api\/(products|contacts)/.test(path)) {
      await this.allShown();
    }
    const url = this.url + path;
    const json = isInJson() && typeof body === "string"
      ? asJson(body, { method, url })
      : null;
    const response = await fetch(url, {
      method,
      body: json ?? body,
      headers: {
        ...(isInJson() && { Accept: "application/json" }),
        ...(key !== null && { "X-Service-Auth": key }),
        ...(body !== undefined && {
          "Content-Type": json === null ? "text/xml" : "application/json",
        }),
        ...headers,
      },
      redirect: "manual",
    });
    const sent = await response.text();
    const { status } = response;
    const received = new Headers(response.headers);
    const isJson = isInJson() && sent !== "" &&
      received.get("content-type") === "application/json";
    const text = isJson ? asXml(sent, { method, url, status }) : sent;
    if (text !== sent) received.set("content-type", XML_TYPE);
    return {
      status: response.status,
      headers: received,
      text,
      get xml() {
        return parseTree(new TextEncoder().encode(text));
      },
    };
  }

  /** Posts a document of products; `query` is, for example, `&dry_run=true`. */
  upload(
    products: string | Uint8Array<ArrayBuffer>,
    query = "",
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.call(`/seller_api/bulk_products?v=1.1${query}`, {
      method: "POST",
      body: typeof products === "string"
        ? `<products>${products}</products>`
        : products,
      headers,
    });
  }

  /** The status record of an upload that was answered with 200. */
  async status(uploaded: Answer, query = ""): Promise<XmlElement> {
    if (uploaded.status !== 200) throw new Error(uploaded.text);
    const id = textAt(uploaded.xml, "transaction_id");
    const answer = await this.call(`/seller_api/bulk_products/${id}${query}`);
    if (answer.status !== 200) throw new Error(answer.text);
    return child(answer.xml, "transaction");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await inTime(this.app.close(), "the end of the service");
    await Deno.remove(this.config.dataDir, { recursive: true })
      .catch(() => {}); // two applications of one test may share the folder
  }
}

export interface BootOptions {
  config?: Partial<Config>;
  deps?: Partial<Deps>;
  /** The seller, if the data folder already has one. */
  seller?: { id: string; key: string };
  app?: AppOptions;
}

/**
 * `await using app = await boot()`: the whole service, real except for the
 * options.
 */
export async function boot(options: BootOptions = {}): Promise<TestApp> {
  const log: LogFields[] = [];
  const deps: Deps = {
    ...systemDeps("debug"),
    log: jsonLog("debug", (line) => log.push(JSON.parse(line))),
    ...options.deps,
  };
  const dataDir = options.config?.dataDir ?? makeDataDir();
  const config = testConfig({
    databaseUrl: await databaseUrlOf(dataDir),
    ...options.config,
    dataDir,
  });
  const app = await openApp(config, deps, {
    ...options.app,
    imageRole: { spawn: inThisThread, ...options.app?.imageRole },
  });
  const seller = options.seller ?? await app.db.write(async (tx) => {
    const added = await addSeller(tx, deps, "acme");
    return { id: added.seller.id, key: added.apiKey };
  });
  return new TestApp(app, config, seller, deps, log);
}

/** The only child with that name; throws if there is none. */
export function child(element: XmlElement, name: string): XmlElement {
  const found = element.children.find((one) => one.name === name);
  if (found === undefined) {
    throw new Error(`<${element.name}> has no <${name}>: ${element.source}`);
  }
  return found;
}

/** Text at a path of child elements, as in `transaction/status`. */
export function textAt(element: XmlElement, path: string): string {
  return path.split("/").reduce(child, element).text;
}

/** The details of an error, as plain objects. */
export function detailsOf(answer: Answer): Record<string, string>[] {
  const error = child(answer.xml, "error");
  const details = error.children.find(({ name }) => name === "details");
  return (details?.children ?? []).filter(({ name }) => name === "detail")
    .map((detail) =>
      Object.fromEntries(detail.children.map(({ name, text }) => [name, text]))
    );
}

/** The error code of an answer. */
export function codeOf(answer: Answer): string {
  return textAt(answer.xml, "error/code");
}

/** A product that can be created, with more elements if given. */
export function product(sku: string, more = ""): string {
  return `<product><sku>${sku}</sku><title>Title of ${sku}</title>` +
    `<price currency="SEK">199.00</price><quantity>5</quantity>${more}</product>`;
}

/**
 * Whether the operator's feed can already show every change: tests on other
 * databases of the same server may delay its horizon.
 */
export function allShown(db: Db): Promise<boolean> {
  return db.read(async (sql) => {
    const { below } = await changeHorizon(sql);
    const beyond = await Promise.all(
      ["products", "deleted_products", "contacts", "deleted_contacts"].map((
        table,
      ) =>
        sql.get(
          `SELECT 1 FROM ${table} WHERE change_no >= ? ${inReach()} LIMIT 1`,
          [below],
        )
      ),
    );
    return beyond.every((row) => row === undefined);
  });
}
