import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readConfig, SETTINGS } from "../src/config.ts";
import { serverUrls } from "../src/lib/server_urls.ts";

const SECRET = `whsec_${btoa("thirty-two bytes of no entropy..")}`;

function read(
  env: Record<string, string>,
  flags: Record<string, string | undefined> = {},
) {
  return readConfig(flags, env);
}

Deno.test("without settings every default applies", () => {
  const { config, mistakes } = read({});
  assertEquals(mistakes, []);
  assertEquals({ ...config }, {
    host: "127.0.0.1",
    port: 8080,
    dataDir: `${Deno.cwd()}/data`,
    databaseUrl: null,
    databasePool: 10,
    databaseShards: 32,
    imageStore: null,
    s3Endpoint: null,
    s3Region: "us-east-1",
    s3AccessKey: null,
    s3SecretKey: null,
    operatorKey: null,
    metricsKey: null,
    metricsPort: null,
    allowPrivate: [],
    rateLimit: 1200,
    trustProxy: 0,
    sourceAddresses: [],
    bodyLimit: 16_777_216,
    importLimit: 67_108_864,
    bodyBudget: 268_435_456,
    imageLimit: 16_777_216,
    productLimit: 1_000_000,
    imageQuota: 10_737_418_240,
    keepUploadsDays: 90,
    undoDays: 30,
    keepEventsDays: 30,
    keepReferencesDays: 400,
    keepPricesDays: 90,
    keepImagesDays: 0,
    publicUrl: null,
    noticesUrl: null,
    noticesSecret: null,
    smtpUrl: null,
    mailFrom: null,
    securityContact: null,
    roles: ["api", "images", "webhooks"],
    logLevel: "info",
  });
});

Deno.test("every variable is read", () => {
  const { config } = read({
    SELLER_HOST: "::1",
    SELLER_PORT: "0",
    SELLER_DATA_DIR: "/srv/seller",
    SELLER_DATABASE_URL:
      "postgres://seller:p%40ss@db:6432/seller?sslmode=require",
    SELLER_DATABASE_POOL: "20",
    SELLER_SHARDS: "256",
    SELLER_IMAGE_STORE: "s3://pictures/shop/images/",
    SELLER_S3_ENDPOINT: "http://10.0.0.5:9000/",
    SELLER_S3_REGION: "eu-north-1",
    SELLER_S3_ACCESS_KEY: "id",
    SELLER_S3_SECRET_KEY: "hush",
    SELLER_OPERATOR_KEY: "op-key",
    SELLER_METRICS_KEY: "metrics-key",
    SELLER_METRICS_PORT: "9100",
    SELLER_ALLOW_PRIVATE: "127.0.0.0/8, fd00::/8",
    SELLER_RATE_LIMIT: "0",
    SELLER_TRUST_PROXY: "2",
    SELLER_SOURCE_ADDRESSES: "198.51.100.16/28,2001:db8::/64",
    SELLER_BODY_LIMIT: "1000",
    SELLER_IMPORT_LIMIT: "4000",
    SELLER_BODY_BUDGET: "13000",
    SELLER_IMAGE_LIMIT: "2000",
    SELLER_PRODUCT_LIMIT: "3000",
    SELLER_IMAGE_QUOTA: "0",
    SELLER_KEEP_UPLOADS_DAYS: "0",
    SELLER_UNDO_DAYS: "5",
    SELLER_KEEP_EVENTS_DAYS: "7",
    SELLER_KEEP_REFERENCES_DAYS: "36500",
    SELLER_KEEP_PRICES_DAYS: "60",
    SELLER_KEEP_IMAGES_DAYS: "14",
    SELLER_PUBLIC_URL: "https://sell.example/",
    SELLER_NOTICES_URL: "https://ops.example/hook?team=1",
    SELLER_NOTICES_SECRET: SECRET.slice("whsec_".length),
    SELLER_SMTP_URL: "smtp://mailer%40shop:p%3Ass@mail.example",
    SELLER_MAIL_FROM: '"The Shop" <notices@shop.example>',
    SELLER_SECURITY_CONTACT: "https://example.com/security",
    SELLER_ROLES: "webhooks,api",
    SELLER_LOG: "debug",
  });
  assertEquals({ ...config }, {
    host: "::1",
    port: 0,
    dataDir: "/srv/seller",
    databaseUrl: "postgres://seller:p%40ss@db:6432/seller?sslmode=require",
    databasePool: 20,
    databaseShards: 256,
    imageStore: { kind: "s3", bucket: "pictures", prefix: "shop/images" },
    s3Endpoint: "http://10.0.0.5:9000",
    s3Region: "eu-north-1",
    s3AccessKey: "id",
    s3SecretKey: "hush",
    operatorKey: "op-key",
    metricsKey: "metrics-key",
    metricsPort: 9100,
    allowPrivate: ["127.0.0.0/8", "fd00::/8"],
    rateLimit: 0,
    trustProxy: 2,
    sourceAddresses: ["198.51.100.16/28", "2001:db8::/64"],
    bodyLimit: 1000,
    importLimit: 4000,
    bodyBudget: 13_000,
    imageLimit: 2000,
    productLimit: 3000,
    imageQuota: 0,
    keepUploadsDays: 0,
    undoDays: 5,
    keepEventsDays: 7,
    keepReferencesDays: 36_500,
    keepPricesDays: 60,
    keepImagesDays: 14,
    publicUrl: "https://sell.example",
    noticesUrl: "https://ops.example/hook?team=1",
    noticesSecret: SECRET,
    smtpUrl: {
      host: "mail.example",
      port: 587,
      secure: false,
      login: { user: "mailer@shop", password: "p:ss" },
    },
    mailFrom: { name: "The Shop", address: "notices@shop.example" },
    securityContact: "https://example.com/security",
    roles: ["api", "webhooks"],
    logLevel: "debug",
  });
});

Deno.test("the database may have several hosts, and its password an @ or a comma", () => {
  const url = "postgres://seller:p@,ss@one:6432,[::1],two/seller" +
    "?target_session_attrs=read-write&sslmode=require";
  const { config } = read({ SELLER_DATABASE_URL: url });
  assertEquals(config?.databaseUrl, url);
  const places = serverUrls(url)!.map(({ password, hostname, port }) =>
    [decodeURIComponent(password), hostname, port].join(" ")
  );
  assertEquals(places, ["p@,ss one 6432", "p@,ss [::1] ", "p@,ss two "]);
});

Deno.test("an empty variable counts as unset", () => {
  const empty = Object.fromEntries(
    Object.values(SETTINGS).map(({ variable }) => [variable, ""]),
  );
  assertEquals({ ...read(empty).config }, { ...read({}).config });
});

Deno.test("an unknown variable is an error that suggests the nearest name", () => {
  const { mistakes } = read({
    SELLER_PROT: "8081",
    SELLER_PORT: "x",
    SELLER_: "y",
    SELLER_PLANET: "",
    PORT: "1",
    seller_port: "2",
  });
  assertEquals(mistakes.map((text) => text.split(":")[0]), [
    "SELLER_",
    "SELLER_PLANET",
    "SELLER_PROT",
    "SELLER_PORT",
  ]);
  assertEquals(
    mistakes[2],
    "SELLER_PROT: no such setting; did you mean SELLER_PORT?",
  );
});

for (const folder of ["file:///srv/seller", "file:/srv", "sqlite://x.db"]) {
  Deno.test(`${folder} is no folder`, () => {
    for (const variable of ["SELLER_DATA_DIR", "SELLER_IMAGE_STORE"]) {
      const { mistakes } = read({ [variable]: folder });
      assertEquals(mistakes.length, 1);
      assertStringIncludes(mistakes[0], `${variable}: `);
    }
  });
}

Deno.test("a flag overrides its variable, and its errors name the flag", () => {
  const env = { SELLER_PORT: "9000" };
  assertEquals(read(env, { port: "9001" }).config?.port, 9001);
  const { mistakes } = read(env, { port: "x" });
  assertEquals(mistakes, [
    '--port: "x" is not a whole number from 0 to 65535.',
  ]);
});

Deno.test("the settings cannot be changed", () => {
  assert(Object.isFrozen(read({}).config));
});

Deno.test("all mistakes are reported at once, by name", () => {
  const { config, mistakes } = read({
    SELLER_HOST: "two words",
    SELLER_PORT: "65536",
    SELLER_IMAGE_STORE: "s3://pictures/../other",
    SELLER_S3_ENDPOINT: "ftp://storage.example",
    SELLER_S3_REGION: "no where",
    SELLER_ALLOW_PRIVATE: "10.0.0.0/33",
    SELLER_RATE_LIMIT: "-1",
    SELLER_TRUST_PROXY: "yes",
    SELLER_BODY_LIMIT: "1e6",
    SELLER_IMAGE_LIMIT: "0",
    SELLER_PRODUCT_LIMIT: "-1",
    SELLER_IMAGE_QUOTA: "10GB",
    SELLER_ROLES: "api,mail",
    SELLER_LOG: "loud",
    SELLER_OPERATOR_KEY: "with space",
    SELLER_DATABASE_URL: "postgres://db/seller",
    SELLER_DATABASE_POOL: "1",
    SELLER_SHARDS: "0",
  });
  assertEquals(config, null);
  assertEquals(mistakes.map((text) => text.split(":")[0]).sort(), [
    "SELLER_ALLOW_PRIVATE",
    "SELLER_BODY_LIMIT",
    "SELLER_DATABASE_POOL",
    "SELLER_DATABASE_URL",
    "SELLER_HOST",
    "SELLER_IMAGE_LIMIT",
    "SELLER_IMAGE_QUOTA",
    "SELLER_IMAGE_STORE",
    "SELLER_LOG",
    "SELLER_OPERATOR_KEY",
    "SELLER_PORT",
    "SELLER_PRODUCT_LIMIT",
    "SELLER_RATE_LIMIT",
    "SELLER_ROLES",
    "SELLER_S3_ENDPOINT",
    "SELLER_S3_REGION",
    "SELLER_SHARDS",
    "SELLER_TRUST_PROXY",
  ]);
});

Deno.test("the error for an invalid operator key does not show it", () => {
  const { mistakes } = read({ SELLER_OPERATOR_KEY: "hush hush" });
  assertEquals(mistakes.length, 1);
  assert(!mistakes[0].includes("hush"));
});

Deno.test("mail needs a sender, and an endpoint for notices needs a secret", () => {
  const { mistakes } = read({
    SELLER_NOTICES_URL: "http://127.0.0.1:9000/",
    SELLER_SMTP_URL: "smtp://127.0.0.1:2525",
  });
  assertEquals(mistakes, [
    "SELLER_NOTICES_SECRET: it is needed for SELLER_NOTICES_URL.",
    "SELLER_MAIL_FROM: it is needed for SELLER_SMTP_URL.",
  ]);
});

Deno.test("the port of a mail server follows from its scheme", () => {
  const portOf = (SELLER_SMTP_URL: string) =>
    read({ SELLER_SMTP_URL, SELLER_MAIL_FROM: "a@b.example" }).config?.smtpUrl;
  const login = null;
  assertEquals(portOf("smtps://mail.example"), {
    ...{ host: "mail.example", port: 465, secure: true, login },
  });
  assertEquals(portOf("smtp://[::1]:25/"), {
    ...{ host: "::1", port: 25, secure: false, login },
  });
});

for (
  const url of [
    "mail.example:587",
    "http://mail.example",
    "smtp://user@mail.example",
    "smtp://user:hush@mail.example/inbox",
    "smtp://user:hush@mail.example?tls=hush",
    "smtp://user:hu%sh@mail.example",
    "smtp://user:hush@",
  ]
) {
  Deno.test(`${url} is no mail server, and the error does not show it`, () => {
    const { mistakes } = read({ SELLER_SMTP_URL: url });
    assertEquals(mistakes.length, 1);
    assertStringIncludes(mistakes[0], "SELLER_SMTP_URL: ");
    assert(!mistakes[0].includes("hu"), mistakes[0]);
  });
}

for (
  const from of [
    "shop",
    "shop@",
    "a@b@c.example",
    "a..b@c.example",
    "Shop <shop>",
    "Shop shop@c.example",
    "<a@b.example> <a@b.example>",
    "a\u0001b <a@b.example>",
  ]
) {
  Deno.test(`${JSON.stringify(from)} is no sender of mail`, () => {
    const SELLER_SMTP_URL = "smtp://mail.example";
    const { mistakes } = read({ SELLER_MAIL_FROM: from, SELLER_SMTP_URL });
    assertStringIncludes(mistakes.join(), "SELLER_MAIL_FROM: ");
    assertEquals(mistakes.length, 1);
  });
}

for (
  const secret of ["whsec_c2hvcnQ=", "hush hush", "a".repeat(99)]
) {
  Deno.test(`${secret} is no secret for notices, and the error does not show it`, () => {
    const { mistakes } = read({ SELLER_NOTICES_SECRET: secret });
    assertStringIncludes(mistakes[0], "SELLER_NOTICES_SECRET: ");
    assert(!mistakes[0].includes(secret.replace("whsec_", "")));
  });
}

Deno.test("a folder of images may be anywhere; object storage needs a key", () => {
  const folder = read({ SELLER_IMAGE_STORE: "/mnt/images" }).config?.imageStore;
  assertEquals(folder, { kind: "folder", folder: "/mnt/images" });
  const { mistakes } = read({ SELLER_IMAGE_STORE: "s3://pictures" });
  assertEquals(mistakes.map((text) => text.split(":")[0]), [
    "SELLER_S3_ACCESS_KEY",
    "SELLER_S3_SECRET_KEY",
  ]);
});

for (
  const place of [
    "s3://",
    "s3://UPPER",
    "s3://a",
    "s3://bucket//twice",
    "s3://bucket/a+b",
    "s3://bucket/..",
    "https://bucket",
  ]
) {
  Deno.test(`${place} is no place for images`, () => {
    const { mistakes } = read({ SELLER_IMAGE_STORE: place });
    assertStringIncludes(mistakes[0], "SELLER_IMAGE_STORE");
  });
}

for (
  const url of [
    "mysql://seller:hush@db/seller",
    "postgres:/seller:hush@db/seller",
    "postgres://:hush@db/seller",
    "postgres://seller:hush@db",
    "postgres://seller:hush@db/a/b",
    "postgres://seller:hush@db/seller?sslmode=hush",
    "postgres://seller:hu?sh@db/seller",
    "postgres://seller@db/seller?password=hush",
    "postgres://seller:hu%sh@db/seller",
    "postgres://seller:x@ss/hu#sh@db/seller",
    "postgres://seller:hush@db/%hu",
    "postgres://seller:hush@db/seller?sslrootcert=hush.pem",
    "postgres://seller:hush@db/seller?sslmode=disable&sslmode=verify-full",
    "postgres://seller:hush@one,/seller",
    "postgres://seller:hush@one:1,two:x/seller",
    "postgres://seller:hush@db/seller?target_session_attrs=hush",
  ]
) {
  Deno.test(`${url} is no database, and the error does not show it`, () => {
    const { mistakes } = read({ SELLER_DATABASE_URL: url });
    assertEquals(mistakes.length, 1);
    assertStringIncludes(mistakes[0], "SELLER_DATABASE_URL: ");
    assert(!mistakes[0].includes("hu"), mistakes[0]);
  });
}

for (
  const cidr of [
    "10.0.0.0",
    "10.0.0.0/",
    "10.0.0.0/x",
    "10.0.0.0/8/8",
    "::/129",
    "example/8",
    "10.0.0/8",
  ]
) {
  Deno.test(`${cidr} is not a CIDR`, () => {
    const { mistakes } = read({ SELLER_ALLOW_PRIVATE: cidr });
    assertStringIncludes(mistakes[0], "SELLER_ALLOW_PRIVATE");
    assertStringIncludes(mistakes[0], cidr);
  });
}
