/** The database file of a folder: its permissions and its identity. */

/** Files that SQLite creates next to the database. */
const COMPANIONS = ["", "-wal", "-shm"];

/**
 * Creates the file if it is missing, readable only by its owner, because it
 * contains secrets. SQLite creates its other files with the same permissions.
 * Errors are ignored: opening the database reports them.
 */
export function makePrivate(file: string): void {
  try {
    // This function never opens an existing file, because closing it would
    // release SQLite's locks.
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
    // The file is missing, or belongs to another user.
  }
}

/**
 * The identity of a file, the same for every spelling of its path; null if
 * there is no file.
 */
export function identityOf(path: string): string | null {
  try {
    const { dev, ino } = Deno.statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

/** Bytes of a file; 0 if there is none. */
export function fileSize(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch {
    return 0;
  }
}
