/** Object storage on loopback that believes nothing. */
import { createHash } from "node:crypto";
import type { Config } from "../../src/config.ts";
import { credentialOf, signatureOf } from "./sigv4.ts";

const ACCESS_KEY = "TESTACCESSKEY";
export const SECRET_KEY = "hush/and+never/told";
const BUCKET = "pictures";
const REGION = "eu-test-1";
const SKEW_MS = 15 * 60_000;

interface StoredObject {
  bytes: Uint8Array<ArrayBuffer>;
  /** Unix milliseconds. */
  written: number;
}

/** What a test has happen instead; null lets the server do its work. */
export type Meddle = (
  request: Request,
  key: string,
) => Response | null | Promise<Response | null>;

/**
 * Speaks the part of the S3 protocol that the service uses, for one bucket.
 * Every request must be signed, by the right key, for the right region, no
 * longer ago than 15 minutes, with all its `x-amz-` headers and the hash of its
 * body under the signature.
 */
export class S3Server implements AsyncDisposable {
  readonly url: string;
  /** By key. */
  readonly objects = new Map<string, StoredObject>();
  /** `METHOD key` of every request that was let in. */
  readonly seen: string[] = [];
  /** Codes of those that were not. */
  readonly refused: string[] = [];
  /** Keys on a page of a list. */
  pageSize = 1000;
  /** How far the time of a signature may be from ours. */
  skewMs = SKEW_MS;
  meddle: Meddle = () => null;
  /** The most that were in work at once, by method. */
  readonly peak = new Map<string, number>();
  readonly #inWork = new Map<string, number>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      onListen: () => {},
    }, (request) => this.#counted(request));
    this.url = `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** The settings of a service that keeps its images here. */
  config(prefix = "shop/images") {
    return {
      imageStore: { kind: "s3", bucket: BUCKET, prefix },
      s3Endpoint: this.url,
      s3Region: REGION,
      s3AccessKey: ACCESS_KEY,
      s3SecretKey: SECRET_KEY,
    } satisfies Partial<Config>;
  }

  /** The same, as a process of its own is told. */
  env(): Record<string, string> {
    return {
      SELLER_IMAGE_STORE: `s3://${BUCKET}/shop/images`,
      SELLER_S3_ENDPOINT: this.url,
      SELLER_S3_REGION: REGION,
      SELLER_S3_ACCESS_KEY: ACCESS_KEY,
      SELLER_S3_SECRET_KEY: SECRET_KEY,
    };
  }

  put(key: string, bytes: Uint8Array<ArrayBuffer>, written = Date.now()): void {
    this.objects.set(key, { bytes, written });
  }

  count(method: string): number {
    return this.seen.filter((line) => line.startsWith(`${method} `)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #counted(request: Request): Promise<Response> {
    const { method } = request;
    const inWork = (this.#inWork.get(method) ?? 0) + 1;
    this.#inWork.set(method, inWork);
    this.peak.set(method, Math.max(this.peak.get(method) ?? 0, inWork));
    try {
      return await this.#answer(request);
    } finally {
      this.#inWork.set(method, this.#inWork.get(method)! - 1);
    }
  }

  async #answer(request: Request): Promise<Response> {
    const bytes = new Uint8Array(await request.arrayBuffer());
    const problem = whatIsWrong(request, bytes, this.skewMs);
    if (problem !== null) {
      this.refused.push(problem.code);
      return problem.response(request.method);
    }
    const { pathname, searchParams } = new URL(request.url);
    const [, bucket, ...rest] = pathname.split("/");
    if (bucket !== BUCKET) return new Problem(404, "NoSuchBucket").response();
    const key = rest.join("/");
    this.seen.push(`${request.method} ${key}`);
    const meddled = await this.meddle(request, key);
    if (meddled !== null) return meddled;
    if (key === "") return this.#list(searchParams);
    switch (request.method) {
      case "PUT":
        this.put(key, bytes);
        return new Response(null, { headers: { etag: '"etag"' } });
      case "DELETE":
        this.objects.delete(key);
        return new Response(null, { status: 204 });
      default:
        return this.#get(request, key);
    }
  }

  #get(request: Request, key: string): Response {
    const found = this.objects.get(key);
    if (found === undefined) {
      return new Problem(404, "NoSuchKey").response(request.method);
    }
    const headers = {
      "content-length": `${found.bytes.length}`,
      "content-type": "binary/octet-stream",
      "last-modified": new Date(found.written).toUTCString(),
    };
    if (request.method === "HEAD") return new Response(null, { headers });
    const range = /^bytes=(\d+)-(\d+)$/.exec(
      request.headers.get("range") ?? "",
    );
    if (range === null) return new Response(found.bytes, { headers });
    const part = found.bytes.slice(Number(range[1]), Number(range[2]) + 1);
    return new Response(part, {
      status: 206,
      headers: { ...headers, "content-length": `${part.length}` },
    });
  }

  /** ListObjectsV2; a token is the last key of the page before, in Base64. */
  #list(query: URLSearchParams): Response {
    if (query.get("list-type") !== "2") {
      return new Problem(400, "InvalidArgument").response();
    }
    const after = atob(query.get("continuation-token") ?? "");
    const keys = [...this.objects.keys()].sort().filter((key) =>
      key.startsWith(query.get("prefix") ?? "") && key > after
    );
    const page = keys.slice(0, this.pageSize);
    const more = keys.length > page.length;
    const contents = page.map((key) =>
      `<Contents><Key>${key}</Key><LastModified>2026-11-20T08:00:00.000Z</LastModified><ETag>&quot;x&quot;</ETag><Size>1</Size><StorageClass>STANDARD</StorageClass></Contents>`
    );
    const next = more
      ? `<NextContinuationToken>${btoa(page.at(-1)!)}</NextContinuationToken>`
      : "";
    return xml(
      200,
      `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${BUCKET}</Name><Prefix/><KeyCount>${page.length}</KeyCount><MaxKeys>1000</MaxKeys>${next}<IsTruncated>${more}</IsTruncated>${
        contents.join("")
      }</ListBucketResult>`,
    );
  }
}

/** An error as the protocol writes it. */
export class Problem {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    this.status = status;
    this.code = code;
  }

  response(method = "GET", headers: Record<string, string> = {}): Response {
    const body = `<Error><Code>${this.code}</Code><Message>No.</Message>` +
      `<AWSAccessKeyId>${ACCESS_KEY}</AWSAccessKeyId></Error>`;
    return method === "HEAD"
      ? new Response(null, { status: this.status, headers })
      : xml(this.status, body, headers);
  }
}

function xml(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`, {
    status,
    headers: { "content-type": "application/xml", ...headers },
  });
}

function whatIsWrong(
  request: Request,
  body: Uint8Array,
  skewMs: number,
): Problem | null {
  const { headers } = request;
  const credential = credentialOf(headers);
  if (credential === null) return new Problem(403, "AccessDenied");
  const { accessKey, day, region, service, signedHeaders } = credential;
  if (accessKey !== ACCESS_KEY) return new Problem(403, "InvalidAccessKeyId");
  const date = headers.get("x-amz-date") ?? "";
  if (region !== REGION || service !== "s3" || !date.startsWith(`${day}T`)) {
    return new Problem(400, "AuthorizationHeaderMalformed");
  }
  const time = Date.parse(
    date.replace(
      /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
      "$1-$2-$3T$4:$5:$6Z",
    ),
  );
  if (!(Math.abs(Date.now() - time) < skewMs)) {
    return new Problem(403, "RequestTimeTooSkewed");
  }
  const needed = [
    "host",
    ...[...headers.keys()].filter((name) => name.startsWith("x-amz-")),
  ];
  if (!needed.every((name) => signedHeaders.includes(name))) {
    return new Problem(403, "AccessDenied");
  }
  if (signatureOf(request, credential, SECRET_KEY) !== credential.signature) {
    return new Problem(403, "SignatureDoesNotMatch");
  }
  const sha256 = createHash("sha256").update(body).digest("hex");
  return headers.get("x-amz-content-sha256") === sha256
    ? null
    : new Problem(400, "XAmzContentSHA256Mismatch");
}
