/** One request, from its arrival to its line in the log. */
import type { Caller } from "../../sellers/seller.ts";
import { checkActive, unauthorized } from "../../sellers/access.ts";
import type { Operator } from "../../sellers/operator_keys.ts";
import type { SellerViews } from "../../sellers/views.ts";
import type { KeyOwner } from "../../sellers/key_rows.ts";
import type { Services } from "../../services.ts";
import { bytesInBlocks, freeBuffer, joinBlocks } from "../../lib/blocks.ts";
import {
  bodyForm,
  type BodyLimits,
  checkImageType,
  LONG_BODY_TIMEOUT_MS,
  readBody,
  readChunks,
} from "../admission/body.ts";
import { BODY_COST, SELLER_BODY_SHARE } from "../../config.ts";
import type { RecentValues } from "../../lib/recent_values.ts";
import type { Admission } from "../admission/admission.ts";
import { KEY_HEADER } from "../admission/authentication.ts";
import type { TakeStep } from "../admission/read_limiter.ts";
import type { RateLimitState } from "../admission/rate_limit.ts";
import { DOCUMENTS } from "../../contracts/documents.ts";
import { parseJsonAsXml } from "../../json/tree.ts";
import { parseTree, type XmlElement } from "../../xml/decode.ts";
import { XML_LIMITS } from "../../xml/handlers.ts";
import {
  type AnswerForm,
  errorForm,
  jsonForm,
} from "../../contracts/answer_form.ts";
import type {
  Documentation,
  EndpointAddress,
} from "../../contracts/endpoint.ts";
import { heavySteps } from "../../lib/wait_list.ts";
import { prefersJson } from "./negotiation.ts";
import { type BodySender, bytesOf, type EncodedBody } from "./sending.ts";
import { clientAddress } from "../admission/auth_failures.ts";

/** How much memory a document takes that is processed as it arrives. */
const ARRIVING_BYTES = 4 * 1_024 * 1_024;
/** How much memory an arriving image takes; the rest of it is in a file. */
const ARRIVING_IMAGE_BYTES = 1_024 * 1_024;
const NO_QUERY = new URLSearchParams();

/** Where a request came from; Deno's information has more members. */
export interface Origin {
  remoteAddr: { hostname: string };
}

/** The encoded answer with the record of an upload, once that is final. */
export interface FinalRecord {
  document: string | Uint8Array<ArrayBuffer>;
  undoneBy: string | null;
}

/** What a handler needs of the server. */
export interface Needs {
  /**
   * Whether the request is an upload. Uploads are expensive, so they are
   * limited for each seller and in total.
   */
  upload?: boolean;
  /** Whether the handler waits on purpose; then a slow answer is not logged. */
  waits?: boolean;
}

/** What all requests of a server share. */
export interface ServerState {
  /** Ends requests that wait or stream. */
  stopping: AbortSignal;
  admission: Admission;
  sender: BodySender;
  views: SellerViews;
  /** Answers by seller, transaction and cursor. */
  finalRecords: RecentValues<FinalRecord>;
}

/** One request and its answer, the argument of handlers. */
export class Exchange implements Disposable {
  readonly services: Services;
  readonly request: Request;
  /** UUID of this request; `X-Request-Id` of the answer. */
  readonly requestId: string;
  readonly startedAt: number;
  readonly #origin: Origin;
  readonly #server: ServerState;
  #form: AnswerForm | undefined;
  /** Resources released when the answer is created, and when it is sent. */
  readonly resources = {
    untilMade: new DisposableStack(),
    untilSent: new DisposableStack(),
  };
  query = NO_QUERY;
  /** Named path segments, percent-decoded. */
  params: Readonly<Record<string, string>> = {};
  route:
    | EndpointAddress & Needs & { documentation: Documentation | null }
    | null = null;
  /** The seller who owns the key; null for another key, or before the check. */
  owner: KeyOwner | null = null;
  /** The operator who owns the key; null for another key. */
  operator: Operator | null = null;
  /** The seller whose data an operator reads; null on other routes. */
  viewed: Caller | null = null;
  /** Whether a valid key for the metrics was sent. */
  hasMetricsKey = false;
  /** Whether the request waits or streams; then its duration is not measured. */
  isWaiting = false;
  rateLimit: RateLimitState | null = null;
  /** Whether the path needs a key. */
  isPrivate = false;
  /** How many bytes of the body were read, after inflating. */
  bytesReceived: number | undefined;
  /** The answer's body; null if there is none, or if it is streamed. */
  encodedAnswer: EncodedBody | null = null;

  constructor(
    services: Services,
    server: ServerState,
    request: Request,
    origin: Origin,
  ) {
    this.services = services;
    this.request = request;
    this.requestId = services.deps.ids.uuid();
    this.startedAt = services.deps.clock.monotonic();
    this.#server = server;
    this.#origin = origin;
  }

  /**
   * The format of the answer, which the client chooses. It is determined only
   * for an answer with a body, because reading a header takes long.
   */
  get form(): AnswerForm {
    return this.#form ??= this.#preferredForm();
  }

  #preferredForm(): AnswerForm {
    const isJson = prefersJson(this.request.headers);
    const answers = this.route?.documentation?.answers;
    return isJson && Array.isArray(answers)
      ? jsonForm(answers)
      : errorForm(isJson ? "json" : "xml");
  }

  /**
   * Reads and inflates the body. Throws 415 for its media type, 413 for its
   * size, 408 after the deadline, 503 if there is not enough memory. `limit` is
   * in bytes, by default from the settings.
   */
  readonly body = async (limit?: number) =>
    joinBlocks(await this.blocks(limit));

  /** The format of the body; throws 415 if it is neither XML nor JSON. */
  get sentForm(): "xml" | "json" {
    return bodyForm(this.request.headers);
  }

  /** Reads and parses the small document that the route takes. */
  readonly document = async (limit: number): Promise<XmlElement> =>
    this.parse(await this.body(limit));

  /**
   * Parses a body as the small document that the route takes. Throws 400 if it
   * is malformed, and 422 for a JSON value of the wrong type.
   */
  readonly parse = (bytes: Uint8Array, limits = XML_LIMITS): XmlElement => {
    if (this.sentForm === "xml") return parseTree(bytes, limits);
    const { root } = this.route!.documentation!.sends!;
    return parseJsonAsXml(
      bytes,
      { name: root, shape: DOCUMENTS[root] },
      limits,
    );
  };

  /**
   * Reads the body like `body`, but returns the blocks in which it arrived, for
   * large bodies.
   */
  readonly blocks = async (limit = this.services.config.bodyLimit) => {
    const { admission: { bodies, budget, uploads }, stopping } = this.#server;
    const { deps, heavy } = this.services;
    const { clock } = deps;
    using reading = new DisposableStack();
    const { owner, resources: { untilMade } } = this;
    if (owner !== null) reading.use(bodies.acquire(owner.id));
    const startedAt = clock.monotonic();
    const blocks = await readBody(this.request, {
      limit,
      deps,
      stopping,
      takeRoom: (bytes) => {
        if (owner !== null) budget.takeFor(untilMade, owner.id, bytes);
      },
      runHeavy: heavySteps(heavy, owner),
    });
    const all = [...blocks];
    untilMade.defer(() => all.forEach(freeBuffer));
    if (this.route?.upload) {
      const seconds = (clock.monotonic() - startedAt) / 1_000;
      this.services.metrics.uploadPhase.observe(seconds, "body");
    }
    this.bytesReceived = bytesInBlocks(blocks);
    // The slot is taken after the body has arrived, because a slow client would
    // occupy a slot that others need.
    if (this.route?.upload) {
      const slot = await uploads.begin({
        seller: this.seller.id,
        bytes: this.bytesReceived,
        abort: () => this.abort,
      });
      untilMade.use(slot);
    }
    return blocks;
  };

  /**
   * Reserves memory for the decoded document, counted in bytes of a body, but
   * at most the rest of the seller's share. Throws 503 if there is not enough.
   */
  readonly takeRoom = (bytes: number): void => {
    const { budget } = this.#server.admission;
    const share = this.services.config.bodyBudget * SELLER_BODY_SHARE;
    const most = Math.floor(share / BODY_COST) - (this.bytesReceived ?? 0);
    const room = Math.max(0, Math.min(bytes, most));
    budget.takeFor(this.resources.untilMade, this.seller.id, room);
  };

  /**
   * Reads a seller's body like `body`, but in chunks as they arrive. Each chunk
   * is valid until the next one is requested.
   */
  readonly chunks = (limit: number) =>
    this.#chunks(
      { limit, memoryBytes: ARRIVING_BYTES },
      () => this.#server.admission.bodies.acquire(this.seller.id),
    );

  /**
   * Reads an image like `chunks`. Acquires a slot until the answer is created;
   * throws 429 or 503 if no slot is free.
   */
  readonly image = async (): Promise<AsyncIterable<Uint8Array>> => {
    const { admission: { images } } = this.#server;
    const { services: { config }, resources: { untilMade } } = this;
    const abort = () => this.abort;
    untilMade.use(
      await images.begin({ seller: this.seller.id, bytes: 0, abort }),
    );
    const limits = {
      limit: config.imageLimit,
      memoryBytes: ARRIVING_IMAGE_BYTES,
      checkType: checkImageType,
    };
    return this.#chunks(limits, () => new DisposableStack());
  };

  async *#chunks(
    { limit, memoryBytes, checkType }:
      & Pick<BodyLimits, "limit" | "checkType">
      & { memoryBytes: number },
    acquire: () => Disposable,
  ): AsyncGenerator<Uint8Array, void> {
    const { admission: { budget }, stopping } = this.#server;
    const { deps, heavy } = this.services;
    const { owner, seller, resources: { untilMade } } = this;
    using _reading = acquire();
    const share = this.services.config.bodyBudget * SELLER_BODY_SHARE;
    const bytes = Math.min(limit, memoryBytes, share) / BODY_COST;
    budget.takeFor(untilMade, seller.id, Math.floor(bytes));
    const chunks = readChunks(this.request, {
      limit,
      checkType,
      deps,
      stopping,
      timeoutMs: LONG_BODY_TIMEOUT_MS,
      runHeavy: heavySteps(heavy, owner),
    });
    this.bytesReceived = 0;
    for await (const chunk of chunks) {
      this.bytesReceived += chunk.length;
      yield chunk;
    }
  }

  /**
   * Acquires a slot for a request that waits or streams, until the slot is
   * disposed of. Throws 429 or 503 if no slot is free.
   */
  readonly startWaiting = (): Disposable => {
    const slot = this.#server.admission.waits.acquire(this.reader ?? "");
    this.isWaiting = true;
    return slot;
  };

  /**
   * Authenticates again. Throws 401 once the key has been revoked for a second,
   * 403 once the seller has been suspended for a second.
   */
  readonly checkKey = async (): Promise<void> => {
    const key = this.request.headers.get(KEY_HEADER);
    const { keys, operatorKeys } = this.#server.admission;
    if (this.operator === null) {
      checkActive(await keys.authenticate(key, this));
    } else if (await operatorKeys.find(key, this) === null) {
      throw unauthorized();
    }
  };

  /** Lets the operator read a seller's data; throws 404 for an unknown seller. */
  readonly view = async (seller: string): Promise<void> => {
    const { who, services } = this;
    this.viewed = await this.#server.views.open(services, { who, seller });
  };

  /**
   * How many bytes the answer's body has. The value is computed on access,
   * because few callers need it.
   */
  get sent(): number | undefined {
    return this.encodedAnswer === null
      ? undefined
      : bytesOf(this.encodedAnswer);
  }

  get finalRecords(): RecentValues<FinalRecord> {
    return this.#server.finalRecords;
  }

  /**
   * Counts further `requests` against the seller's rate limit, once the cost of
   * this request is known. Later requests may have to wait.
   */
  readonly countMore = (requests: number): void => {
    const { owner } = this;
    if (owner !== null) {
      this.rateLimit = this.#server.admission.charge(owner, requests);
    }
  };

  /**
   * Reads many rows in steps. Each step runs when it is the turn of the key's
   * owner. Throws 429 or 503 if too many reads wait.
   */
  readonly heavyRead = async <T>(
    read: (takeStep: TakeStep) => Promise<T>,
  ): Promise<T> => {
    const { admission: { reads }, sender } = this.#server;
    const owner = this.reader ?? "";
    // A read is short, so only its wait is aborted when the service stops.
    const { ending } = this.services;
    const abort = () => AbortSignal.any([this.request.signal, ending]);
    const takeStep = await reads.begin({ owner, abort }, this.resources);
    sender.checkRoom(owner);
    return await read(takeStep);
  };

  /**
   * Whether an operator's key was sent, on a route that needs none; throws 401
   * for an invalid one.
   */
  readonly isOperator = async (): Promise<boolean> => {
    const key = this.request.headers.get(KEY_HEADER) ?? "";
    if (key === "") return false;
    const { operatorKeys } = this.#server.admission;
    this.operator = await operatorKeys.authenticate(key, this);
    return this.operator !== null;
  };

  /** The operator's name in the audit log; throws on other routes. */
  get who(): string {
    if (this.operator !== null) return this.operator.name;
    throw new Error("this route is not an operator's");
  }

  /** The client's IP address, as the trusted proxies report it. */
  get client(): string {
    const { hostname } = this.#origin.remoteAddr;
    const { trustProxy } = this.services.config;
    return clientAddress(this.request, hostname, trustProxy);
  }

  /** The authenticated or viewed seller; throws on a route without one. */
  get seller(): Caller {
    const seller = this.owner ?? this.viewed;
    if (seller !== null) return seller;
    throw new Error("this route is not a seller's");
  }

  /**
   * Who owns the key of the request: a seller's id, or `operator:` and an
   * operator's name; null without a key. The unread answers of one owner are
   * counted together.
   */
  get reader(): string | null {
    if (this.owner !== null) return this.owner.id;
    // No id of a seller has a colon.
    return this.operator === null ? null : `operator:${this.operator.name}`;
  }

  [Symbol.dispose](): void {
    this.resources.untilMade.dispose();
    this.resources.untilSent.dispose();
  }

  /** Fires when the client disconnects or the service stops. */
  get abort(): AbortSignal {
    return AbortSignal.any([this.request.signal, this.#server.stopping]);
  }
}
