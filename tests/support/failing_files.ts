/** File calls below a folder, some of which a test lets fail. */

/** The errors that a call may fail with, as the runtime throws them. */
const FILE_ERRORS = {
  EIO: "Input/output error (os error 5)",
  EMFILE: "Too many open files (os error 24)",
  ENOSPC: "No space left on device (os error 28)",
  EROFS: "Read-only file system (os error 30)",
} as const;

export type FileErrorName = keyof typeof FILE_ERRORS;
export const FILE_ERROR_NAMES = Object.keys(FILE_ERRORS) as FileErrorName[];

/** Decides whether a call fails; null lets it succeed. */
export type FailFile = (call: string, path: string) => FileErrorName | null;

/** Calls with a path. */
const BY_PATH = [
  "mkdir",
  "mkdirSync",
  "open",
  "openSync",
  "readDir",
  "readDirSync",
  "readFile",
  "remove",
  "rename",
  "renameSync",
  "stat",
  "writeTextFileSync",
] as const;

/** Calls of an open file. */
const OF_FILE = ["read", "seek", "sync", "write", "writeSync"] as const;

type Call = (...args: unknown[]) => unknown;

/**
 * Asks `fail` before each file call of this thread below `folder`, until it is
 * disposed of.
 */
export function failFiles(folder: string, fail: FailFile): Disposable {
  const stack = new DisposableStack();
  const paths = new WeakMap<object, string>();
  const note = <T>(result: T, path: string): T => {
    if (result instanceof Deno.FsFile) paths.set(result, path);
    return result;
  };
  const mayFail = (call: string, path: string): void => {
    const name = fail(call, path.slice(folder.length + 1));
    if (name !== null) throw fileError(name, call, path);
  };
  const replace = (owner: object, name: string, make: (call: Call) => Call) => {
    const calls = owner as Record<string, Call>;
    const before = calls[name];
    calls[name] = make(before);
    stack.defer(() => {
      calls[name] = before;
    });
  };
  for (const name of BY_PATH) {
    replace(Deno, name, (call) => (...args) => {
      const path = String(args[0]);
      const go = () => call(...args);
      if (!`${path}/`.startsWith(`${folder}/`)) return go();
      if (name === "readDir") return entries(() => mayFail(name, path), go);
      if (name.endsWith("Sync")) {
        mayFail(name, path);
        return note(go(), path);
      }
      return (async () => {
        mayFail(name, path);
        return note(await go(), path);
      })();
    });
  }
  for (const name of OF_FILE) {
    replace(
      Deno.FsFile.prototype,
      name,
      (call) =>
        function (this: Deno.FsFile, ...args) {
          const path = paths.get(this);
          const go = (first = args[0]) =>
            call.apply(this, [first, ...args.slice(1)]);
          if (path === undefined) return go();
          if (name === "writeSync") {
            const bytes = args[0] as Uint8Array;
            const error = fail(name, path.slice(folder.length + 1));
            if (error === null) return go();
            // Writes the part that fits.
            go(bytes.subarray(0, bytes.length / 2));
            throw fileError(error, name, path);
          }
          return (async () => {
            mayFail(name, path);
            return await go();
          })();
        },
    );
  }
  return stack;
}

async function* entries(
  check: () => void,
  read: () => unknown,
): AsyncGenerator<Deno.DirEntry> {
  check();
  yield* read() as AsyncIterable<Deno.DirEntry>;
}

function fileError(name: FileErrorName, call: string, path: string): Error {
  const message = `${FILE_ERRORS[name]}: ${call} '${path}'`;
  return Object.assign(new Error(message), { code: name });
}

/** The beginning of the message of an error. */
export function fileErrorText(name: FileErrorName): string {
  return FILE_ERRORS[name];
}
