/** Lists that come in pages. */
import type { CallOptions, Connection } from "./connection.ts";
import { PageCount } from "./limits.ts";
import type { Operation } from "./operation.ts";

/**
 * A list of the service. `await` gives the first page; `for await` gives every
 * entry of all pages. The client sends no request before one of the two.
 */
export interface List<Page, Entry> extends Promise<Page>, AsyncIterable<Entry> {
  /** Yields all pages; `next` of a page is the cursor of the following page. */
  pages(): AsyncGenerator<Page, void, undefined>;
}

/** The list that an operation reads. */
export class PagedList<Page, Entry> implements List<Page, Entry> {
  readonly [Symbol.toStringTag] = "PagedList";
  readonly #connection: Connection;
  readonly #operation: Operation;
  readonly #input: Readonly<Record<string, unknown>>;
  readonly #options: CallOptions | undefined;
  #first: Promise<Page> | undefined;

  constructor(
    connection: Connection,
    operation: Operation,
    input: Readonly<Record<string, unknown>>,
    options: CallOptions | undefined,
  ) {
    this.#connection = connection;
    this.#operation = operation;
    this.#input = input;
    this.#options = options;
  }

  /** The first page, or the page after the cursor `after` of the input. */
  then<R = Page, E = never>(
    onPage?: ((page: Page) => R | PromiseLike<R>) | null,
    onError?: ((error: unknown) => E | PromiseLike<E>) | null,
  ): Promise<R | E> {
    return this.#firstPage().then(onPage, onError);
  }

  catch<E = never>(
    onError?: ((error: unknown) => E | PromiseLike<E>) | null,
  ): Promise<Page | E> {
    return this.then(null, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Page> {
    return this.#firstPage().finally(onEnd);
  }

  /** Yields every entry of all pages. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void, undefined> {
    const { pages = "", item } = this.#operation;
    for await (const page of this.pages()) {
      const list = (page as Record<string, unknown>)[pages];
      yield* (item === undefined
        ? list
        : (list as Record<string, unknown>)[item]) as Entry[];
    }
  }

  async *pages(): AsyncGenerator<Page, void, undefined> {
    const count = new PageCount(this.#connection.limits);
    let { after } = this.#input;
    for (let read = this.#firstPage();;) {
      const page = await read;
      yield page;
      const { next } = page as { next?: string };
      // A feed always returns a cursor: at its end, the cursor of the request.
      if (next === undefined || next === after) return;
      count.add(next);
      after = next;
      read = this.#page({ ...this.#input, after });
    }
  }

  /** Requests the first page only once, however often it is awaited. */
  #firstPage(): Promise<Page> {
    return this.#first ??= this.#page(this.#input);
  }

  #page(input: Readonly<Record<string, unknown>>): Promise<Page> {
    const answer = this.#connection.call(this.#operation, input, this.#options);
    return answer as Promise<Page>;
  }
}
