/**
 * Whether this process is the only one of its role on a data folder. The lock
 * is the operating system's, so it ends with the process, however that ends.
 */
import { join } from "node:path";
import type { Role } from "../config.ts";

/**
 * Takes a role on a data folder; null while another process has it. Close the
 * file to give the role up.
 */
export function takeRole(dataDir: string, role: Role): Deno.FsFile | null {
  const file = Deno.openSync(join(dataDir, `${role}.lock`), {
    create: true,
    write: true,
    mode: 0o600,
  });
  if (file.tryLockSync(true)) return file;
  file.close();
  return null;
}
