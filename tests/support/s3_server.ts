/** A strict S3 server on loopback. */
import { createHash } from "node:crypto";
import type { Config } from "../../src/config.ts";
import type { S3Settings } from "../../src/object_storage/client.ts";
import { credentialOf, signatureOf } from "./sigv4.ts";

const ACCESS_KEY = "TESTACCESSKEY";
export const SECRET_KEY = "hush/and+never/told";
const BUCKET = "pictures";
const REGION = "eu-test-1";
const SKEW_MS = 15 * 60_000;

/** The least size of a part that is not the last. */
const PART_BYTES = 5 * 1024 * 1024;

interface StoredObject {
  bytes: Uint8Array<ArrayBuffer>;
  /** Unix milliseconds. */
  written: number;
  etag: string;
  /** Headers `x-amz-meta-…`. */
  metadata: Record<string, string>;
}

/** A multipart upload that is neither complete nor aborted. */
interface MultipartUpload {
  key: string;
  metadata: Record<string, string>;
  /** By number. */
  parts: Map<number, Uint8Array<ArrayBuffer>>;
}

/** Replaces the answer to a request; null lets the server answer. */
export type Meddle = (
  request: Request,
  key: string,
) => Response | null | Promise<Response | null>;

/**
 * Implements the part of the S3 protocol that the service uses, for one bucket.
 * Every request must be signed with the right key, for the right region, within
 * the last 15 minutes, including all its `x-amz-` headers and the hash of its
 * body.
 */
export class S3Server implements AsyncDisposable {
  readonly url: string;
  /** By key. */
  readonly objects = new Map<string, StoredObject>();
  /** By id. */
  readonly uploads = new Map<string, MultipartUpload>();
  /** `METHOD key` of every accepted request. */
  readonly seen: string[] = [];
  /** Error codes of refused requests. */
  readonly refused: string[] = [];
  /** Keys on a page of a listing. */
  pageSize = 1000;
  /** How far the time of a signature may differ from the server's. */
  skewMs = SKEW_MS;
  meddle: Meddle = () => null;
  /** The most requests in progress at once, by method. */
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

  /** The settings of a service that stores its images here. */
  config() {
    return configOf(settingsOf(this));
  }

  /** The same settings as environment variables, for a separate process. */
  env(): Record<string, string> {
    return {
      SELLER_IMAGE_STORE: `s3://${BUCKET}/shop/images`,
      SELLER_S3_ENDPOINT: this.url,
      SELLER_S3_REGION: REGION,
      SELLER_S3_ACCESS_KEY: ACCESS_KEY,
      SELLER_S3_SECRET_KEY: SECRET_KEY,
    };
  }

  put(
    key: string,
    bytes: Uint8Array<ArrayBuffer>,
    written = Date.now(),
    metadata: Record<string, string> = {},
  ): void {
    this.objects.set(key, { bytes, written, etag: md5(bytes), metadata });
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
    const key = decodeURIComponent(rest.join("/"));
    this.seen.push(`${request.method} ${key}`);
    const meddled = await this.meddle(request, key);
    if (meddled !== null) return meddled;
    if (key === "") return this.#list(searchParams);
    const refused = this.#condition(request, key);
    if (refused !== null) return refused.response(request.method);
    if (searchParams.has("uploads") || searchParams.has("uploadId")) {
      return this.#multipart(request, key, bytes, searchParams);
    }
    switch (request.method) {
      case "PUT":
        this.put(key, bytes, Date.now(), metadataOf(request));
        return new Response(null, { headers: { etag: md5(bytes) } });
      case "DELETE":
        this.objects.delete(key);
        return new Response(null, { status: 204 });
      case "GET":
      case "HEAD":
        return this.#get(request, key);
      default:
        return new Problem(405, "MethodNotAllowed").response();
    }
  }

  /** The problem if `If-Match` or `If-None-Match` is not met. */
  #condition({ headers }: Request, key: string): Problem | null {
    const found = this.objects.get(key);
    const match = headers.get("if-match");
    const failed = match !== null && match !== found?.etag ||
      headers.get("if-none-match") === "*" && found !== undefined;
    return failed ? new Problem(412, "PreconditionFailed") : null;
  }

  #multipart(
    request: Request,
    key: string,
    bytes: Uint8Array<ArrayBuffer>,
    query: URLSearchParams,
  ): Response {
    const { method } = request;
    if (method === "POST" && query.has("uploads")) {
      const id = crypto.randomUUID();
      const metadata = metadataOf(request);
      this.uploads.set(id, { key, metadata, parts: new Map() });
      return xml(
        200,
        `<InitiateMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Bucket>${BUCKET}</Bucket><Key>${
          escaped(key)
        }</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    const id = query.get("uploadId") ?? "";
    const upload = this.uploads.get(id);
    if (upload?.key !== key) {
      return new Problem(404, "NoSuchUpload").response();
    }
    switch (method) {
      case "PUT":
        upload.parts.set(Number(query.get("partNumber")), bytes);
        return new Response(null, { headers: { etag: md5(bytes) } });
      case "POST":
        return this.#complete(id, upload, new TextDecoder().decode(bytes));
      case "DELETE":
        this.uploads.delete(id);
        return new Response(null, { status: 204 });
      default:
        return new Problem(405, "MethodNotAllowed").response();
    }
  }

  #complete(id: string, upload: MultipartUpload, body: string): Response {
    const listed = [...body.matchAll(
      /<Part><PartNumber>(\d+)<\/PartNumber><ETag>(.+?)<\/ETag><\/Part>/g,
    )];
    const parts = listed.map(([, number]) => upload.parts.get(Number(number)));
    const isWrong = listed.some(([, , etag], n) =>
      parts[n] === undefined ||
      etag.replaceAll("&quot;", '"') !== md5(parts[n])
    );
    if (isWrong) return new Problem(400, "InvalidPart").response();
    const numbers = listed.map(([, number]) => Number(number));
    if (numbers.length === 0) {
      return new Problem(400, "MalformedXML").response();
    }
    if (numbers.some((number, n) => n > 0 && number <= numbers[n - 1])) {
      return new Problem(400, "InvalidPartOrder").response();
    }
    if (parts.slice(0, -1).some((part) => part!.length < PART_BYTES)) {
      return new Problem(400, "EntityTooSmall").response();
    }
    const { key, metadata } = upload;
    const pieces = parts.map((part) => part!);
    const bytes = new Uint8Array(pieces.reduce((sum, p) => sum + p.length, 0));
    let at = 0;
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    this.put(key, bytes, Date.now(), metadata);
    this.uploads.delete(id);
    return xml(
      200,
      `<CompleteMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Key>${
        escaped(key)
      }</Key></CompleteMultipartUploadResult>`,
    );
  }

  #get(request: Request, key: string): Response {
    const found = this.objects.get(key);
    if (found === undefined) {
      return new Problem(404, "NoSuchKey").response(request.method);
    }
    const headers = {
      ...found.metadata,
      etag: found.etag,
      "content-length": `${found.bytes.length}`,
      "content-type": "binary/octet-stream",
      "last-modified": new Date(found.written).toUTCString(),
    };
    if (request.method === "HEAD") return new Response(null, { headers });
    const range = /^bytes=(\d+)-(\d+)$/.exec(
      request.headers.get("range") ?? "",
    );
    if (range === null) return new Response(found.bytes, { headers });
    if (Number(range[1]) >= found.bytes.length) {
      return new Problem(416, "InvalidRange").response();
    }
    const part = found.bytes.slice(Number(range[1]), Number(range[2]) + 1);
    return new Response(part, {
      status: 206,
      headers: { ...headers, "content-length": `${part.length}` },
    });
  }

  /** ListObjectsV2; a token is the last key of the previous page, in Base64. */
  #list(query: URLSearchParams): Response {
    if (query.get("list-type") !== "2") {
      return new Problem(400, "InvalidArgument").response();
    }
    const token = query.get("continuation-token");
    const after = token === null ? query.get("start-after") ?? "" : atob(token);
    const isEncoded = query.get("encoding-type") === "url";
    const encode = isEncoded
      ? (key: string) => encodeURIComponent(key).replaceAll("%2F", "/")
      : (key: string) => key;
    const most = Number(query.get("max-keys") ?? this.pageSize);
    const keys = [...this.objects.keys()].sort().filter((key) =>
      key.startsWith(query.get("prefix") ?? "") && key > after
    );
    const page = keys.slice(0, Math.min(most, this.pageSize));
    const more = keys.length > page.length;
    const contents = page.map((key) =>
      `<Contents><Key>${
        escaped(encode(key))
      }</Key><LastModified>2026-11-20T08:00:00.000Z</LastModified><ETag>&quot;x&quot;</ETag><Size>1</Size><StorageClass>STANDARD</StorageClass></Contents>`
    );
    const next = more
      ? `<NextContinuationToken>${btoa(page.at(-1)!)}</NextContinuationToken>`
      : "";
    return xml(
      200,
      `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${BUCKET}</Name><Prefix/><KeyCount>${page.length}</KeyCount><MaxKeys>${most}</MaxKeys>${
        isEncoded ? "<EncodingType>url</EncodingType>" : ""
      }${next}<IsTruncated>${more}</IsTruncated>${
        contents.join("")
      }</ListBucketResult>`,
    );
  }
}

function metadataOf({ headers }: Request): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(([name]) => name.startsWith("x-amz-meta-")),
  );
}

function md5(bytes: Uint8Array): string {
  return `"${createHash("md5").update(bytes).digest("hex")}"`;
}

/**
 * Escapes a text for XML; characters that XML does not allow are written as
 * other servers write them.
 */
function escaped(text: string): string {
  return text.replace(/[&<>"'\x00-\x1f]/g, (one) => `&#${one.charCodeAt(0)};`);
}

/** The settings of a client of this server. */
export function settingsOf({ url }: S3Server): S3Settings {
  return {
    endpoint: url,
    region: REGION,
    accessKey: ACCESS_KEY,
    secretKey: SECRET_KEY,
    bucket: BUCKET,
    prefix: "shop/images",
  };
}

/** The settings of a service that stores its images there. */
export function configOf(settings: S3Settings) {
  const { endpoint, region, bucket, prefix, accessKey, secretKey } = settings;
  return {
    imageStore: { kind: "s3", bucket, prefix },
    s3Endpoint: endpoint,
    s3Region: region,
    s3AccessKey: accessKey,
    s3SecretKey: secretKey,
  } satisfies Partial<Config>;
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
