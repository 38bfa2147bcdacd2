/** A seller that tries to get more than its share, or to break something. */
import { gzipSync } from "node:zlib";
import type { Random } from "../../support/random.ts";
import type { Actor, Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { BULK } from "./catalogue_client.ts";
import type { Call } from "./caller.ts";
import { between, pick } from "./choice.ts";
import { imageUrl } from "./hosts.ts";
import type { Seller } from "./seller.ts";

export type HostileStep =
  | "malformed"
  | "too large"
  | "slow body"
  | "flood of uploads"
  | "flood of lists"
  | "silent images"
  | "many silent images"
  | "stopped readers"
  | "waits"
  | "wrong keys"
  | "odd requests"
  | "bomb";

const PRODUCT = "<product><sku>h</sku><title>H</title>" +
  '<price currency="SEK">1</price><quantity>1</quantity></product>';

/** The answer with this many products is sent in pieces. */
const LONG_LIST = 60;

export class Hostile implements Actor {
  readonly #scene: Scene;
  readonly #seller: Seller;
  readonly #name: string;
  #uploads = 0;

  constructor(scene: Scene, seller: Seller, name: string) {
    this.#scene = scene;
    this.#seller = seller;
    this.#name = name;
  }

  async do(kind: HostileStep, random: Random): Promise<void> {
    this.#scene.stage.scheduler.trace(() => `${this.#name}: ${kind}`);
    const many = (n: number, call: () => Partial<Call>) =>
      this.#together(Array.from({ length: n }, call), random);
    switch (kind) {
      case "malformed":
        return await this.#refused(
          pick<Partial<Call>>(random, [
            { body: "<products><product>" },
            { body: "<products>&x;</products>" },
            { body: `<!DOCTYPE a [<!ENTITY b "c">]><products/>` },
            { body: new Uint8Array([0x3c, 0xff, 0xfe]) },
            { body: "<a>".repeat(200) },
            { body: "" },
            { body: PRODUCT, headers: { "Content-Encoding": "gzip" } },
            { body: PRODUCT, headers: { "Content-Type": "text/plain" } },
            { body: `<products>${PRODUCT.repeat(251)}</products>` },
          ]),
          random,
        );
      case "too large": {
        const { bodyLimit } = this.#scene.world.settings;
        if (bodyLimit > 1_000_000) return;
        return await this.#refused(
          { body: `<products>${" ".repeat(bodyLimit)}</products>` },
          random,
        );
      }
      case "bomb": {
        const zeros = gzipSync(new Uint8Array(300_000));
        const body = new Uint8Array(zeros);
        const headers = { "Content-Encoding": "gzip" };
        return await this.#refused({ body, headers }, random);
      }
      case "slow body":
        return await many(between(random, 1, 4), () => ({
          ...this.#upload(1),
          pieces: { bytes: 20, everyMs: pick(random, [500, 5_000, 40_000]) },
        }));
      case "flood of uploads":
        return await many(
          between(random, 4, 24),
          () => this.#upload(between(random, 1, 20)),
        );
      case "flood of lists":
        return await many(between(random, 4, 40), () => ({
          path: "/seller_api/products?limit=250",
        }));
      case "silent images":
        return await many(
          between(random, 1, 17),
          () =>
            this.#upload(1, () => imageUrl("silent", `s${random.below(3)}`)),
        );
      case "many silent images":
        return await many(
          1,
          () => this.#upload(120, (i) => imageUrl("silent", `many${i}`)),
        );
      case "stopped readers":
        // A short answer is sent at once, however it is read.
        await many(1, () => this.#upload(LONG_LIST));
        return await many(between(random, 1, 12), () => ({
          path: "/seller_api/products?limit=250",
          reader: pick<NonNullable<Call["reader"]>>(random, [
            "stops",
            { slowMs: 1_000 },
            { leavesAfterMs: 5 },
            { leavesAfterMs: between(random, 5, 3_000) },
          ]),
        }));
      case "waits":
        return await many(between(random, 1, 70), () => ({
          path: "/seller_api/events?wait=30&after=0",
          reader: { leavesAfterMs: between(random, 0, 20_000) },
        }));
      case "wrong keys":
        return await many(between(random, 1, 30), () => ({
          path: "/seller_api/products",
          key: `sk_${random.below(1_000_000)}`,
          limited: false,
        }));
      case "odd requests":
        return await this.#odd(random);
    }
  }

  #upload(
    products: number,
    urlOf: ((i: number) => string) | null = null,
  ): Partial<Call> {
    const images = (i: number) =>
      urlOf === null ? "" : `<images><image>${urlOf(i)}</image></images>`;
    const rows = Array.from(
      { length: products },
      (_, i) =>
        PRODUCT.replace("<sku>h", `<sku>h${i}`)
          .replace("<quantity>1", `<quantity>${++this.#uploads % 1_000}`)
          .replace("</product>", `${images(i)}</product>`),
    );
    return {
      method: "POST",
      path: BULK,
      body: `<products>${rows.join("")}</products>`,
    };
  }

  #call(call: Partial<Call>): Call {
    const { limited } = this.#seller;
    return { method: "GET", path: "/", key: this.#seller, limited, ...call };
  }

  async #together(calls: Partial<Call>[], random: Random): Promise<void> {
    const { caller } = this.#scene;
    const sent = calls.map((call) =>
      caller.once(this.#name, this.#call(call), random)
    );
    await Promise.all(sent);
  }

  /** Requests that cannot be stored are refused. */
  async #refused(call: Partial<Call>, random: Random): Promise<void> {
    const { caller } = this.#scene;
    const whole = this.#call({ method: "POST", path: BULK, ...call });
    const reply = await caller.once(this.#name, whole, random);
    if (typeof reply === "string") return;
    hold(reply.status >= 400, "contract", "it is refused", reply.text);
  }

  async #odd(random: Random): Promise<void> {
    const { caller } = this.#scene;
    const call = pick<Partial<Call>>(random, [
      { path: "/seller_api/nothing" },
      { path: `${BULK}?dryrun=true`, method: "POST", body: "<products/>" },
      { path: BULK, method: "PATCH" },
      { path: "/seller_api/products/%ff" },
      { path: "/seller_api/products?after=x&limit=0" },
      { path: `${BULK}/00000000-0000-7000-8000-000000000000` },
      { path: "/operator_api/sellers" },
      { path: "/metrics" },
      { path: "/seller_api/events?after=99999" },
    ]);
    const { path } = call;
    const limited = path!.startsWith("/seller_api") && this.#seller.limited;
    const reply = await caller.once(
      this.#name,
      this.#call({ ...call, limited }),
      random,
    );
    if (typeof reply === "string") return;
    hold(reply.status >= 400, "contract", `${path} is refused`, reply.text);
  }
}
