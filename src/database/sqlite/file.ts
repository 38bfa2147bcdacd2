/** The file of a SQLite database in its folder: who may read it, and which it is. */

/** What SQLite puts beside the file. */
const COMPANIONS = ["", "-wal", "-shm"];

/**
 * Makes the file where it is missing, and has nobody but its owner read it: it
 * holds secrets. SQLite gives its companions the same permissions. What fails
 * here is told by whoever opens the file.
 */
export function makePrivate(file: string): void {
  try {
    // Never opened where it exists: closing it would drop SQLite's locks.
    const options = { write: true, createNew: true, mode: 0o600 };
    Deno.openSync(file, options).close();
  } catch {
    for (const companion of COMPANIONS) restrict(file + companion);
  }
}

function restrict(path: string): void {
  try {
    const { mode } = Deno.statSync(path);
    if (mode !== null && (mode & 0o077) !== 0) Deno.chmodSync(path, 0o600);
  } catch {
    // It is missing, or another user's.
  }
}

/** Which file a path leads to, however it is spelt; null when there is none. */
export function identityOf(path: string): string | null {
  try {
    const { dev, ino } = Deno.statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}
