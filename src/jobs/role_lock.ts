/**
 * Which roles this process alone has on its data folder. The locks are the
 * operating system's, so they end with the process, however that ends.
 */
import { join } from "node:path";
import type { Role } from "../config.ts";

export class RoleLocks {
  readonly #dataDir: string;
  readonly #held = new Map<Role, Deno.FsFile>();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Takes a role unless another process has it; answers whether it is ours. */
  take(role: Role): boolean {
    if (this.#held.has(role)) return true;
    const file = Deno.openSync(join(this.#dataDir, `${role}.lock`), {
      create: true,
      write: true,
      mode: 0o600,
    });
    if (file.tryLockSync(true)) this.#held.set(role, file);
    else file.close();
    return this.#held.has(role);
  }

  /** Gives all roles up. */
  close(): void {
    for (const file of this.#held.values()) file.close();
    this.#held.clear();
  }
}
