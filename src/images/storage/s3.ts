/**
 * S3-compatible object storage as the image store: one object for each image,
 * `<prefix>/<first two digits>/<SHA-256>.<type>`. A download stays on this
 * machine until it is complete.
 */
import { parseTree, type XmlElement } from "../../xml/decode.ts";
import type { InUse } from "../../lib/holders.ts";
import { StoreError } from "../../lib/store_error.ts";
import { diskThreads } from "./disk_call.ts";
import {
  probeFolder,
  sweepTemporaryFolder,
  TemporaryFile,
} from "./temporary_file.ts";
import type { S3Answer, S3Client } from "../../object_storage/client.ts";
import {
  type ByteRange,
  type ImageBytes,
  type ImageFile,
  type ImageStore,
  type IncomingImage,
  isStoredName,
  sha256Of,
} from "./blob_store.ts";

/**
 * The bytes of the largest page of a listing: 1,000 keys of at most 1,024
 * bytes, escaped.
 */
const PAGE_BYTES = 8 * 1024 * 1024;

/** Throws a `StoreError` if the storage fails or answers wrongly. */
export class S3Store implements ImageStore {
  readonly #partFolder: string;
  readonly #client: S3Client;
  readonly #pageKeys: number;

  /** `pageKeys`: keys of a page of a listing, at most 1,000. */
  constructor(client: S3Client, partFolder: string, pageKeys = 1_000) {
    this.#client = client;
    this.#pageKeys = pageKeys;
    this.#partFolder = partFolder;
  }

  inUse(): InUse {
    const { used, waiting } = diskThreads.inUse();
    return { ...this.#client.inUse(), at_disk: used + waiting };
  }

  oldestWaitMs(): number {
    return Math.max(diskThreads.oldestWaitMs(), this.#client.oldestWaitMs());
  }

  prepare(): void {
    Deno.mkdirSync(this.#partFolder, { recursive: true, mode: 0o700 });
  }

  /**
   * Probes the storage and the local folder, because a download also needs
   * space on this machine.
   */
  async probe(): Promise<void> {
    await probeFolder(this.#partFolder);
    await this.#client.putProbe();
  }

  receive(lease: string): IncomingImage {
    return new TemporaryFile(
      this.#partFolder,
      lease,
      (part, file, abort) =>
        this.#client.put(file, sha256Of(file), () => part.content(), abort),
    );
  }

  async stat(file: string): Promise<ImageFile | null> {
    const answer = await this.#client.send({ method: "HEAD", file });
    if (answer === null) return null;
    await answer.drop();
    return {
      name: file,
      bytes: lengthOf(answer),
      written: timeOf(answer.header("last-modified")),
    };
  }

  async read(file: string, range?: ByteRange): Promise<ImageBytes | null> {
    const headers = range === undefined
      ? undefined
      : { range: `bytes=${range.start}-${range.end - 1}` };
    const answer = await this.#client.send({ method: "GET", file, headers });
    if (answer === null) return null;
    const bytes = lengthOf(answer);
    if (range !== undefined && bytes !== range.end - range.start) {
      await answer.drop();
      throw new StoreError(
        "unusable",
        `GET ${file}: the answer has another range.`,
      );
    }
    return { bytes, body: answer.stream() };
  }

  /** Lists all names from the first of these files to the last. */
  async missing(files: readonly string[]): Promise<string[]> {
    const last = files.at(-1);
    if (last === undefined) return [];
    const { keyPrefix } = this.#client;
    const found = new Set<string>();
    const from = { "start-after": (keyPrefix + files[0]).slice(0, -1) };
    for await (const keys of this.#pages(keyPrefix, from)) {
      for (const key of keys) found.add(key.slice(keyPrefix.length));
      if ((keys.at(-1) ?? "") >= keyPrefix + last) break;
    }
    return files.filter((file) => !found.has(file));
  }

  async names(prefix: string): Promise<string[]> {
    const below = `${this.#client.keyPrefix}${prefix}/`;
    const names: string[] = [];
    for await (const keys of this.#pages(below)) {
      for (const key of keys) names.push(key.slice(below.length));
    }
    return names.filter(isStoredName).sort().map((name) => `${prefix}/${name}`);
  }

  async remove(file: string): Promise<void> {
    const answer = await this.#client.send({ method: "DELETE", file });
    await answer?.drop();
  }

  sweepTemporaryFiles(before: number): Promise<number> {
    return sweepTemporaryFolder(this.#partFolder, before);
  }

  /** The keys of each page of a listing. */
  async *#pages(
    prefix: string,
    from: Record<string, string> = {},
  ): AsyncGenerator<string[]> {
    let token: string | null = null;
    do {
      const start = token === null ? from : { "continuation-token": token };
      const page: Page = await this.#page(prefix, start);
      if (page.next !== null && page.next === token) {
        throw new StoreError("unusable", "A listing does not end.");
      }
      yield page.keys;
      token = page.next;
    } while (token !== null);
  }

  async #page(prefix: string, start: Record<string, string>): Promise<Page> {
    const answer = await this.#client.send({
      method: "GET",
      file: null,
      query: {
        "list-type": "2",
        // XML cannot represent every key.
        "encoding-type": "url",
        "max-keys": `${this.#pageKeys}`,
        prefix,
        ...start,
      },
    });
    if (answer === null) throw new StoreError("unusable", "There is no list.");
    return pageIn(await answer.bytes(PAGE_BYTES));
  }
}

interface Page {
  keys: string[];
  /** The token of the next page; null on the last page. */
  next: string | null;
}

/** Parses a `ListBucketResult`. */
function pageIn(document: Uint8Array): Page {
  let root: XmlElement;
  try {
    root = parseTree(document);
  } catch (error) {
    throw new StoreError("unusable", "A listing is not readable XML.", error);
  }
  const truncated = childTextOf(root, "IsTruncated");
  const next = truncated === "true"
    ? childTextOf(root, "NextContinuationToken")
    : null;
  if (
    root.name !== "ListBucketResult" || truncated === null ||
    (truncated === "true" && next === null)
  ) {
    throw new StoreError("unusable", "An answer is no listing of a bucket.");
  }
  const isEncoded = childTextOf(root, "EncodingType") === "url";
  const keys = root.children.filter(({ name }) => name === "Contents")
    .map((one) => childTextOf(one, "Key") ?? "");
  return { keys: isEncoded ? keys.map(decodedKey) : keys, next };
}

/** Some servers encode a space as "+". */
function decodedKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch (error) {
    throw new StoreError("unusable", "A listing has a broken key.", error);
  }
}

function childTextOf(element: XmlElement, name: string): string | null {
  return element.children.find((one) => one.name === name)?.text || null;
}

function lengthOf(answer: S3Answer): number {
  const text = answer.header("content-length") ?? "";
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new StoreError("unusable", "An answer has no length.");
}

function timeOf(text: string | null): number {
  const time = Date.parse(text ?? "");
  if (Number.isFinite(time)) return time;
  throw new StoreError("unusable", "An answer has no Last-Modified.");
}
