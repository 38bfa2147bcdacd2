/**
 * Locks that give one process a role on its data folder. They are locks of the
 * operating system, so they end with the process even if it crashes.
 */
import { join } from "node:path";
import type { Role } from "../config.ts";

export class RoleLocks {
  readonly #dataDir: string;
  readonly #files = new Map<Role, Deno.FsFile>();
  readonly #held = new Set<Role>();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /**
   * Takes a role unless another process holds it; returns whether this process
   * holds it now.
   */
  take(role: Role): boolean {
    if (this.#held.has(role)) return true;
    const file = this.#files.get(role) ??
      Deno.openSync(join(this.#dataDir, `${role}.lock`), {
        create: true,
        write: true,
        mode: 0o600,
      });
    this.#files.set(role, file);
    if (file.tryLockSync(true)) this.#held.add(role);
    return this.#held.has(role);
  }

  /** Releases all roles. */
  close(): void {
    for (const file of this.#files.values()) file.close();
    this.#files.clear();
    this.#held.clear();
  }
}
