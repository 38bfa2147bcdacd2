/**
 * The encoded records of transactions that are final: they never change, and
 * integrations ask for them again and again. The least recently asked leave
 * first.
 */
import type { Transaction } from "./transaction.ts";

interface Kept {
  /** A retry of failed images makes a transaction final anew. */
  finishedAt: number;
  body: Uint8Array<ArrayBuffer>;
}

/** Bytes kept at most. */
const LIMIT_BYTES = 16 * 1_024 * 1_024;

export class FinalRecords {
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** The body for this state of the transaction, if it is kept. */
  find({ id, finished_at }: Transaction): Uint8Array<ArrayBuffer> | undefined {
    const kept = this.#kept.get(id);
    if (kept === undefined || kept.finishedAt !== finished_at) return undefined;
    // The order of a Map is that of insertion: asked last stands last.
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    return kept.body;
  }

  /** Keeps the body of a transaction, if it is final. */
  keep({ id, finished_at }: Transaction, body: Uint8Array<ArrayBuffer>): void {
    if (finished_at === null) return;
    this.#forget(id);
    this.#kept.set(id, { finishedAt: finished_at, body });
    this.#bytes += body.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= LIMIT_BYTES) return;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    this.#bytes -= this.#kept.get(id)?.body.length ?? 0;
    this.#kept.delete(id);
  }
}
