/** Refuses statements after the end of a transaction's function. */
import { DbError, type ReadOptions } from "./db.ts";

/**
 * A read or write transaction, which can be used until its function has ended.
 */
export class OpenTransaction {
  readonly #isSingle: boolean;
  #isUsed = false;
  #hasEnded = false;

  constructor({ single = false }: ReadOptions = {}) {
    this.#isSingle = single;
  }

  /** Called before each use. */
  protected use(): void {
    if (this.#hasEnded) {
      throw new DbError("other", "The transaction has ended.");
    }
    // A single read has no transaction, so it may have only one statement.
    if (this.#isSingle && this.#isUsed) {
      throw new DbError("other", "A read of one statement made a second one.");
    }
    this.#isUsed = true;
  }

  end(): void | Promise<void> {
    this.#hasEnded = true;
  }

  /** Runs the function of the transaction. */
  async during<T>(fn: () => Promise<T>): Promise<T> {
    try {
      return await fn();
    } finally {
      await this.end();
    }
  }
}
