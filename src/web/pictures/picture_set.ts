/**
 * Pictures on their way into products: chosen → assigned by their names → sent
 * → placed.
 */
import type { Client } from "../../client/mod.ts";
import { afterMs, now } from "../lib/browser.ts";
import { Store } from "../lib/store.ts";
import type { SortedFiles } from "./dropped.ts";
import type { UnsentFile } from "./kinds.ts";
import type { Placed, PlacingMode } from "./placing.ts";
import {
  applyEvent,
  isQueueSettled,
  newQueue,
  nextInQueue,
  type Queue,
  type QueueEvent,
} from "./queue.ts";
import { imageLimit, sendPicture } from "./sending.ts";
import {
  type Choices,
  largePictures,
  NO_CHOICES,
  type Picture,
  withPictures,
  withUnsent,
} from "./set.ts";
import {
  findPicturedProducts,
  productOf,
  type StoredProduct,
} from "./stored.ts";

/** The search for stored products. */
export type SearchState =
  | { name: "waiting" }
  | { name: "running"; done: number; total: number }
  | { name: "done" }
  | { name: "failed"; error: Error };

export interface SetState {
  pictures: readonly Picture[];
  unsent: readonly UnsentFile[];
  /** Names of files that an operating system has added. */
  systemFiles: readonly string[];
  choices: Choices;
  /** null: the person has not been asked, or has not answered. */
  mode: PlacingMode | null;
  /** Whether large pictures are made smaller. */
  smaller: boolean;
  search: SearchState;
  /** The stored products that were found, by their SKUs. */
  stored: ReadonlyMap<string, StoredProduct>;
  /** null until the pictures are sent. */
  queue: Queue | null;
  /** What became of the pictures; null: they are in no product yet. */
  placed: Placed & { rows: number } | null;
}

const EMPTY: SetState = {
  pictures: [],
  unsent: [],
  systemFiles: [],
  choices: NO_CHOICES,
  mode: null,
  smaller: false,
  search: { name: "waiting" },
  stored: new Map(),
  queue: null,
  placed: null,
};

export class PictureSet {
  readonly state: Store<SetState> = new Store(EMPTY);
  /** Whether the pictures are being put into products. */
  isPlacing = false;
  /** The id of the account whose products are known; null: none is. */
  #account: string | null = null;
  #searching = new AbortController();
  #sending = new AbortController();
  #cancelWake: () => void = () => {};

  /** Changes some properties. */
  change(changes: Partial<SetState>): void {
    this.state.set({ ...this.state.value, ...changes });
  }

  /** Adds chosen files. */
  add({ pictures, unsent, systemFiles }: Omit<SortedFiles, "products">): void {
    const { value } = this.state;
    this.change({
      pictures: withPictures(value.pictures, pictures),
      unsent: withUnsent(value.unsent, unsent),
      systemFiles: [...value.systemFiles, ...systemFiles],
      placed: null,
      ...(pictures.length > 0 && { search: { name: "waiting" } }),
    });
  }

  /** Searches the stored products that the pictures may show. */
  async search(client: Client, skus: readonly string[]): Promise<void> {
    this.#searching.abort();
    this.#searching = new AbortController();
    const { signal } = this.#searching;
    this.change({ search: { name: "running", done: 0, total: 0 } });
    const onProgress = (done: number, total: number) => {
      if (signal.aborted) return;
      this.change({ search: { name: "running", done, total } });
    };
    const paths = this.state.value.pictures.map(({ path }) => path);
    try {
      const { account } = await client.account.get({ signal });
      this.#account = account.id;
      const found = await findPicturedProducts(
        { client, signal, onProgress },
        account.products,
        paths,
        skus,
      );
      if (!signal.aborted) this.#addStored(found, { name: "done" });
    } catch (error) {
      if (signal.aborted) return;
      this.change({ search: { name: "failed", error: error as Error } });
    }
  }

  /** Ends the search with what was found. */
  endSearch(): void {
    this.#searching.abort();
    this.change({ search: { name: "done" } });
  }

  #addStored(found: readonly StoredProduct[], search: SearchState): void {
    const stored = new Map(this.state.value.stored);
    for (const product of found) stored.set(product.sku, product);
    this.change({ stored, search });
  }

  /** Whether a stored product has the SKU; then it is known from now on. */
  async knows(client: Client, sku: string): Promise<boolean> {
    if (this.state.value.stored.has(sku)) return true;
    const product = await productOf(client, sku);
    if (product !== null) this.#addStored([product], this.state.value.search);
    return product !== null;
  }

  /** Sends these pictures; those that were sent before are not sent again. */
  async send(client: Client, pictures: readonly Picture[]): Promise<void> {
    const { account } = await client.account.get();
    this.#sending.abort();
    this.#sending = new AbortController();
    if (this.#account !== null && this.#account !== account.id) {
      // Somebody else has signed in since: search that account's products.
      return this.change({ ...EMPTY, pictures: this.state.value.pictures });
    }
    this.#begin(client, account.id, pictures);
  }

  #begin(client: Client, account: string, pictures: readonly Picture[]): void {
    const { signal } = this.#sending;
    const byKey = new Map(pictures.map((one) => [one.key, one]));
    const { smaller, queue } = this.state.value;
    const large = new Set(
      largePictures(pictures, imageLimit()).map(({ key }) => key),
    );
    const shrunk = queue === null ? [] : tooLargeKeys(queue);
    const advance = (event: QueueEvent) => {
      const { queue } = this.state.value;
      if (queue === null) return;
      this.change({ queue: applyEvent(queue, event) });
      if (!signal.aborted) sendNext();
    };
    const sendNext = () => {
      this.#cancelWake();
      const { keys, wakeAt } = nextInQueue(this.state.value.queue!, now());
      for (const key of keys) {
        const { queue } = this.state.value;
        this.change({ queue: applyEvent(queue!, { name: "begun", key }) });
        sendPicture(byKey.get(key)!, {
          client,
          account,
          signal,
          smaller: smaller && (large.has(key) || shrunk.includes(key)),
          onWait: (error) => advance({ name: "delayed", error }),
        }).then(advance, (error) => advance({ name: "ended", key, error }));
      }
      if (wakeAt !== null) {
        this.#cancelWake = afterMs(wakeAt - now(), sendNext);
      }
    };
    const known = new Map(queue === null ? [] : sentUrls(queue));
    const fresh = newQueue([...byKey.keys()], known);
    this.change({ queue: applyEvent(fresh, { name: "started" }) });
    sendNext();
  }

  /** Stops the sending and the search; what was sent stays sent. */
  stop(): void {
    this.#searching.abort();
    this.#sending.abort();
    this.#cancelWake();
    const { queue } = this.state.value;
    if (queue === null) return;
    this.change({ queue: applyEvent(queue, { name: "stopped" }) });
  }

  /** The URLs of sent pictures by their keys. */
  get urls(): ReadonlyMap<string, string> {
    const { queue } = this.state.value;
    return new Map(queue === null ? [] : sentUrls(queue));
  }

  /** Whether all pictures are sent or refused, and in no product yet. */
  get awaitsPlacing(): boolean {
    const { queue, placed } = this.state.value;
    return queue !== null && placed === null && isQueueSettled(queue);
  }

  /** Whether closing the page would end the sending or lose the choices. */
  get isUnsaved(): boolean {
    const { queue, placed } = this.state.value;
    return queue !== null && placed === null;
  }
}

function sentUrls({ pictures }: Queue): [string, string][] {
  return [...pictures].flatMap(([key, state]) =>
    state.name === "sent" ? [[key, state.url] as [string, string]] : []
  );
}

function tooLargeKeys({ pictures }: Queue): string[] {
  return [...pictures].flatMap(([key, state]) =>
    state.name === "refused" && state.isTooLarge ? [key] : []
  );
}
