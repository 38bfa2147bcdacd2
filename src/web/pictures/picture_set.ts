/**
 * The state of chosen pictures. They are chosen, then assigned to products by
 * their names, then sent, then added to the products.
 */
import type { Client } from "../../client/mod.ts";
import { afterMs, now } from "../lib/browser.ts";
import { Store } from "../lib/store.ts";
import type { SortedFiles } from "./dropped.ts";
import type { UnsentFile } from "./kinds.ts";
import type { PlacingMode, PlacingResult } from "./placing.ts";
import {
  applyEvent,
  isQueueFinished,
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
  findProductBySku,
  type StoredProduct,
} from "./stored.ts";

/** The state of the search for stored products. */
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
  /** Null until the user has chosen. */
  mode: PlacingMode | null;
  /** Whether large pictures are made smaller before they are sent. */
  smaller: boolean;
  search: SearchState;
  /** The stored products that were found, by their SKUs. */
  stored: ReadonlyMap<string, StoredProduct>;
  /** Null until the user sends the pictures. */
  queue: Queue | null;
  /** The result of adding the pictures to products; null before that. */
  placed: PlacingResult & { rows: number } | null;
}

const EMPTY_STATE: SetState = {
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
  readonly state: Store<SetState> = new Store(EMPTY_STATE);
  /** Whether the pictures are being put into products. */
  isPlacing = false;
  /** The id of the account whose products were searched; null before that. */
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

  /** Ends the search with the products that were found so far. */
  endSearch(): void {
    this.#searching.abort();
    this.change({ search: { name: "done" } });
  }

  #addStored(found: readonly StoredProduct[], search: SearchState): void {
    const stored = new Map(this.state.value.stored);
    for (const product of found) stored.set(product.sku, product);
    this.change({ stored, search });
  }

  /** Whether a stored product has the SKU; adds the product to the state. */
  async knows(client: Client, sku: string): Promise<boolean> {
    if (this.state.value.stored.has(sku)) return true;
    const product = await findProductBySku(client, sku);
    if (product !== null) this.#addStored([product], this.state.value.search);
    return product !== null;
  }

  /** Sends these pictures, except those that were sent before. */
  async send(client: Client, pictures: readonly Picture[]): Promise<void> {
    const { account } = await client.account.get();
    this.#sending.abort();
    this.#sending = new AbortController();
    if (this.#account !== null && this.#account !== account.id) {
      // Another account has signed in, whose products must be searched.
      return this.change({
        ...EMPTY_STATE,
        pictures: this.state.value.pictures,
      });
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
    const refusedForSize = queue === null ? [] : tooLargeKeys(queue);
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
          smaller: smaller && (large.has(key) || refusedForSize.includes(key)),
          onWait: (error) => advance({ name: "delayed", error }),
        }).then(advance, (error) => advance({ name: "ended", key, error }));
      }
      if (wakeAt !== null) {
        this.#cancelWake = afterMs(wakeAt - now(), sendNext);
      }
    };
    const known = new Map(queue === null ? [] : sentUrls(queue));
    const newState = newQueue([...byKey.keys()], known);
    this.change({ queue: applyEvent(newState, { name: "started" }) });
    sendNext();
  }

  /** Stops sending and searching. Sent pictures stay sent. */
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

  /** Whether all pictures are sent or refused, but not yet in products. */
  get awaitsPlacing(): boolean {
    const { queue, placed } = this.state.value;
    return queue !== null && placed === null && isQueueFinished(queue);
  }

  /** Whether closing the page would stop sending or lose choices. */
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
