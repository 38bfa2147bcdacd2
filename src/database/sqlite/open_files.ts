/** Notices that the files of an open database were removed or replaced. */
import type { Clock } from "../../deps.ts";
import { DbError } from "../db.ts";
import { identityOf } from "./file.ts";

/**
 * How long a check's result is reused, because a check before each commit would
 * add a twentieth to a small write. A commit between the removal of a file and
 * the next check is lost, unless the file is put back.
 */
const CHECK_MS = 10;

/**
 * Checks that the files of an open database are in place. A write to an
 * unlinked file is lost. A database file that was moved may be put back. But
 * once the log or its index is gone, this process and other processes no longer
 * see the same state, so the connections must not be used again.
 */
export class OpenFiles {
  readonly database: string;
  /** The write-ahead log. */
  readonly log: string;
  /** The index of the log, which all processes share. */
  readonly #index: string;
  readonly #clock: Clock;
  readonly #identities: ReadonlyMap<string, string | null>;
  /** Monotonic time until which the result of the last check is valid. */
  #checkedUntil = -Infinity;
  /** Why the connections must not be used again; null if they may. */
  unusable: DbError | null = null;

  /** All three files must exist. */
  constructor(database: string, clock: Clock) {
    this.database = database;
    this.log = `${database}-wal`;
    this.#index = `${database}-shm`;
    this.#clock = clock;
    this.#identities = new Map(
      [database, this.log, this.#index].map((path) => [path, identityOf(path)]),
    );
  }

  /**
   * Throws a `DbError` (`removed`) if a file was removed or replaced, unless
   * all of them were in place less than `CHECK_MS` ago.
   */
  check(): void {
    if (this.unusable !== null) throw this.unusable;
    const now = this.#clock.monotonic();
    if (now < this.#checkedUntil) return;
    if (this.#isGone(this.database)) throw removed(this.database);
    const gone = [this.log, this.#index].find((path) => this.#isGone(path));
    if (gone !== undefined) throw this.unusable = removed(gone);
    this.#checkedUntil = now + CHECK_MS;
  }

  #isGone(path: string): boolean {
    return identityOf(path) !== this.#identities.get(path);
  }

  /** Whether there is no log at all, not even one of another process. */
  get hasNoLog(): boolean {
    return identityOf(this.log) === null;
  }
}

function removed(path: string): DbError {
  return new DbError(
    "removed",
    `${path} was removed or replaced while this process uses it.`,
  );
}
