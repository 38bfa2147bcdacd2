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
 * Resolves after the page has drawn and handled its events. It sends a message,
 * because a timer takes a second in a hidden tab.
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

/** A text that is stored for this tab, until it is closed. */
export const inTab = (name: string): StoredText =>
  storedText(() => sessionStorage, name);

/** A text that is stored for all tabs. */
export const inBrowser = (name: string): StoredText =>
  storedText(() => localStorage, name);

/**
 * A browser that blocks storage throws at every access; then nothing is stored.
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
export interface Picked {
  file: File;
  handle: FileSystemFileHandle;
}

/**
 * Asks for a file; null if none was chosen. Only some browsers let a page read
 * a file again.
 */
export async function pickFile(): Promise<Picked | null | "unsupported"> {
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

/** What was dropped on the page. */
export interface Dropped {
  /** Files and folders; empty where the browser gives only files. */
  entries: readonly FileSystemEntry[];
  files: readonly File[];
  /** Lets the page read a single file again, where the browser allows it. */
  handle: FileSystemFileHandle | null;
}

/** The dropped files and folders. */
export async function droppedFiles(
  { items, files }: DataTransfer,
): Promise<Dropped> {
  // The browser clears both at the first await.
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
