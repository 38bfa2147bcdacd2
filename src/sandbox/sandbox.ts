/**
 * The sandbox: the production code with a demo seller, an image host and a
 * webhook sink, all on loopback addresses.
 */
import type { Contact } from "../catalogue/contact.ts";
import { writeContact } from "../catalogue/contact_rows.ts";
import { type Config, ROLES } from "../config.ts";
import type { Deps } from "../deps.ts";
import type { Mailer } from "../net/smtp.ts";
import type { SandboxPage } from "../services.ts";
import type { Db, Sql } from "../database/db.ts";
import { openDatabase } from "../database/open.ts";
import { type ListedReason, writeReasons } from "../reviews/reasons.ts";
import { setEmail } from "../sellers/email.ts";
import type { NewCategoryList } from "../categories/document.ts";
import { replaceCategories } from "../categories/list.ts";
import { DAY_MS } from "../lib/durations.ts";
import { dayOf } from "../lib/values.ts";
import { COMMAND_LINE } from "../monitoring/audit.ts";
import { addSeller, listSellers } from "../sellers/seller_rows.ts";
import { catalogue, refusedCatalogue } from "./catalogue.ts";
import { guide } from "./guide.ts";
import { imageHost } from "./image_host.ts";
import { type MailSink, mailSink } from "./mail_sink.ts";
import { webhookSink } from "./webhook_sink.ts";

const LOOPBACK = "127.0.0.1";
const SELLER = "demo";
const SELLER_KEY = "demo";
const OPERATOR_KEY = "operator";
/** The sandbox shows all mail instead of sending it to this address. */
const EMAIL = "demo@seller.example";
/** Sample reasons, for users who try the review. */
const REASONS: readonly ListedReason[] = [
  {
    code: "logo_in_image",
    field: "images",
    message: "An image shows a logo; send one without.",
  },
  { code: "wrong_category", field: "categories", message: null },
];

/**
 * The data folder has real sellers, which the public keys of the sandbox would
 * expose.
 */
export class SandboxFolderError extends Error {
  override readonly name = "SandboxFolderError";
}

export interface SandboxOptions {
  config: Config;
  deps: Deps;
  /** The data folder; null creates a new one and removes it at the end. */
  dataDir: string | null;
  /**
   * The address to listen on; null for loopback, because the keys are public.
   */
  host: string | null;
  print(line: string): void;
}

export interface Sandbox {
  /** The configuration for opening the service. */
  config: Config;
  /** What the page shows in a sandbox. */
  page: SandboxPage;
  /** Receives all mail. */
  mailer: Mailer;
  /** Adds the demo seller to the open service and prints the shell lines. */
  begin(service: { url: string; db: Db }): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the image host and the sink. Throws {@linkcode SandboxFolderError}.
 */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { config, deps, print } = options;
  if (options.dataDir !== null) {
    await refuseRealSellers({ config, deps }, options.dataDir);
  }
  let service: { url: string; db: Db } | null = null;
  const sink = webhookSink({
    clock: deps.clock,
    secrets: async () => await service?.db.read(webhookSecrets) ?? [],
    print,
  });
  const mail = mailSink(print);
  const handler = loopbackHandler({ config, deps, sink, mail });
  const server = listen(config.port, handler);
  const dataDir = options.dataDir ??
    await Deno.makeTempDir({ prefix: "seller-sandbox-" });
  const { port } = server.addr as Deno.NetAddr;
  const loopback = `http://${LOOPBACK}:${port}`;
  const keys = { sellerKey: SELLER_KEY, operatorKey: OPERATOR_KEY };
  return {
    config: {
      ...config,
      dataDir,
      host: options.host ?? LOOPBACK,
      // SELLER_IMAGE_STORE may name the store of a real service.
      imageStore: null,
      databaseUrl: null,
      // These settings may be those of a real service.
      noticesUrl: null,
      smtpUrl: null,
      mailFrom: null,
      publicUrl: null,
      roles: ROLES,
      operatorKey: OPERATOR_KEY,
      allowPrivate: [...config.allowPrivate, `${LOOPBACK}/32`],
    },
    page: {
      ...keys,
      // Made for each visit of the page, because the sales begin and end
      // relative to the current time.
      get samples() {
        return samples(`${loopback}/images`, deps.clock.now());
      },
      mailUrl: `${loopback}/mail`,
    },
    mailer: mail,
    async begin(opened) {
      service = opened;
      await addDemoSeller(opened.db, deps);
      const [secret = ""] = await opened.db.read(webhookSecrets);
      const isTemporary = options.dataDir === null;
      const places = { service: opened.url, loopback, dataDir, isTemporary };
      guide({ ...places, secret, ...keys }).forEach(print);
    },
    async close() {
      await server.shutdown();
      if (options.dataDir === null) {
        await Deno.remove(dataDir, { recursive: true });
      }
    },
  };
}

function samples(images: string, now: number): SandboxPage["samples"] {
  return [
    {
      name: "catalogue.xml",
      label: "Try a catalogue",
      xml: catalogue(images, now),
    },
    {
      name: "refused.xml",
      label: "Try one with mistakes",
      xml: refusedCatalogue(images),
    },
  ];
}

function loopbackHandler({ config, deps, sink, mail }: {
  config: Config;
  deps: Deps;
  sink: (request: Request) => Promise<Response>;
  mail: MailSink;
}): (request: Request) => Response | Promise<Response> {
  const images = imageHost({
    clock: deps.clock,
    imageLimit: config.imageLimit,
  });
  return (request) => {
    // The Host header may be anything.
    if (!URL.canParse(request.url)) return new Response(null, { status: 400 });
    const { pathname, origin } = new URL(request.url);
    switch (pathname) {
      case "/catalogue.xml":
        return xml(catalogue(`${origin}/images`, deps.clock.now()));
      case "/refused.xml":
        return xml(refusedCatalogue(`${origin}/images`));
      case "/hook":
        return sink(request);
      case "/mail":
        return mail.respond();
      default:
        return images(request);
    }
  };
}

function xml(body: string): Response {
  return new Response(body, {
    headers: { "content-type": "text/xml; charset=utf-8" },
  });
}

/** The port after the service's, so that pasted lines work after a restart. */
function listen(
  servicePort: number,
  handler: Deno.ServeHandler,
): Deno.HttpServer {
  const options = { hostname: LOOPBACK, onListen: () => {} };
  const wanted = servicePort === 0 ? 0 : servicePort % 65_535 + 1;
  try {
    return Deno.serve({ ...options, port: wanted }, handler);
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    return Deno.serve({ ...options, port: 0 }, handler);
  }
}

async function addDemoSeller(db: Db, deps: Deps): Promise<void> {
  const isNew = await db.write(async (tx) => {
    if ((await listSellers(tx, deps.clock.now())).length > 0) return false;
    const { seller } = await addSeller(tx, deps, SELLER, SELLER_KEY);
    await setEmail(tx, deps, seller, EMAIL);
    await writeReasons(tx, REASONS);
    for (const [name, contact] of Object.entries(CONTACTS)) {
      await writeContact(tx, deps, seller, name, contact);
    }
    return true;
  }, { order: "sandbox", changes: true });
  if (!isNew) return;
  const list = demoCategories(deps.clock.now());
  await replaceCategories({ db, deps }, { who: COMMAND_LINE, list });
}

/** The contacts of the demo seller, for its products to name. */
const CONTACTS: Readonly<Record<string, Contact>> = {
  "teahouse": {
    company: "Teahouse Pottery AB",
    street: "Lertagsgatan 4",
    postal_code: "223 62",
    city: "Lund",
    country: "SE",
    email: "safety@teahouse.example",
  },
  "import agent": {
    company: "Nordic Import Agent Oy",
    street: "Satamakatu 9",
    postal_code: "20100",
    city: "Turku",
    country: "FI",
    url: "https://agent.example/contact",
  },
};

/**
 * A list with a rule that begins in a month, and applies to products in its
 * category.
 */
function demoCategories(now: number): NewCategoryList {
  const from = dayOf(now + 30 * DAY_MS);
  return {
    closed: false,
    categories: [
      {
        name: "Kitchen/Cups",
        rules: [
          { field: "gtin", required: true, from },
          {
            attribute: "material",
            required: true,
            values: ["glass", "porcelain", "steel"],
          },
        ],
      },
      {
        name: "Kitchen/Tea",
        rules: [{ field: "weight", required: true, from }],
      },
    ],
  };
}

async function webhookSecrets(sql: Sql): Promise<string[]> {
  const row = await sql.get<{ secret: string }>(
    "SELECT webhook_secret AS secret FROM sellers WHERE name = ?",
    [SELLER],
  );
  return row === undefined ? [] : [row.secret];
}

async function refuseRealSellers(
  { config, deps: { clock } }: { config: Config; deps: Deps },
  dataDir: string,
): Promise<void> {
  const db = await openDatabase({ ...config, dataDir, databaseUrl: null }, {
    create: true,
  });
  try {
    const sellers = await db.read((sql) => listSellers(sql, clock.now()));
    const real = sellers.find(({ name }) => name !== SELLER);
    if (real === undefined) return;
    throw new SandboxFolderError(
      `${dataDir} has the seller ${JSON.stringify(real.name)}; a sandbox, ` +
        "whose keys everybody knows, needs its own folder.",
    );
  } finally {
    await db.close();
  }
}
