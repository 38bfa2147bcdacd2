/**
 * Time, storage, and files that the user chooses or saves. No other module of
 * the page reads a clock, sets a timer or opens the browser's storage. The
 * service's counterpart is `deps.ts`.
 */

/** Unix time in milliseconds. */
export const now = (): number => Date.now();

/** Milliseconds of a monotonic clock, for durations. */
export const monotonic = (): number => performance.now();

/** Calls `fn` every `ms` until the returned function is called. */
export function every(ms: number, fn: () => void): () => void {
  const timer = setInterval(fn, ms);
  return () => clearInterval(timer);
}

/** Calls `fn` once after `ms` unless the returned function is called before. */
export function afterMs(ms: number, fn: () => void): () => void {
  const timer = setTimeout(fn, ms);
  return () => clearTimeout(timer);
}

/**
 * Resolves after the browser has drawn the page and handled its events. The
 * function sends a message instead of setting a timer, because a timer of a
 * hidden tab takes a second.
 */
export function yieldToPage(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** Makes the browser save a file. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** A text in the browser's storage; null if none is stored. */
export interface StoredText {
  get(): string | null;
  set(text: string | null): void;
}

/** A text that is stored for this tab until the tab is closed. */
export const storedInTab = (name: string): StoredText =>
  storedText(() => sessionStorage, name);

/** A text that is stored for all tabs of the browser. */
export const storedInBrowser = (name: string): StoredText =>
  storedText(() => localStorage, name);

/**
 * A text in a storage. If the browser blocks storage, every access throws, and
 * nothing is stored.
 */
function storedText(storage: () => Storage, name: string): StoredText {
  return {
    get() {
      try {
        return storage().getItem(name);
      } catch {
        return null;
      }
    },
    set(text) {
      try {
        if (text === null) storage().removeItem(name);
        else storage().setItem(name, text);
      } catch {
        // The page works without storage.
      }
    },
  };
}

/** A chosen file that the page may read again later. */
export interface PickedFile {
  file: File;
  handle: FileSystemFileHandle;
}

/**
 * Asks the user for a file that the page may read again later. Returns null if
 * the user chose none, "unsupported" if the browser offers no such files.
 */
export async function pickFile(): Promise<PickedFile | null | "unsupported"> {
  const { showOpenFilePicker } = globalThis as {
    showOpenFilePicker?: () => Promise<FileSystemFileHandle[]>;
  };
  if (showOpenFilePicker === undefined) return "unsupported";
  try {
    const [handle] = await showOpenFilePicker();
    return { handle, file: await handle.getFile() };
  } catch (error) {
    const isCancelled = error instanceof DOMException &&
      error.name === "AbortError";
    return isCancelled ? null : "unsupported";
  }
}

/** The files and folders that the user dropped on the page. */
export interface DroppedItems {
  /** Files and folders; empty where the browser gives only files. */
  entries: readonly FileSystemEntry[];
  files: readonly File[];
  /** Lets the page read a single file again, where the browser allows it. */
  handle: FileSystemFileHandle | null;
}

/** Reads the files and folders of a drop event. */
export async function readDroppedItems(
  { items, files }: DataTransfer,
): Promise<DroppedItems> {
  // The browser clears `files` and `items` at the first await.
  const all = [...files];
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const first = items[0] as
    | (DataTransferItem & {
      getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
    })
    | undefined;
  const handle = entries.length > 1
    ? null
    : await first?.getAsFileSystemHandle?.().catch(() => null);
  return {
    entries,
    files: all,
    handle: handle?.kind === "file" ? handle as FileSystemFileHandle : null,
  };
}
