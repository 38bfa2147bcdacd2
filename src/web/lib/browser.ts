/**
 * Time, storage, the choice and saving of files. The page's counterpart of the
 * service's `deps.ts`: no other module of the page reads a clock, sets a timer
 * or opens the storage of the browser.
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
 * Resolves when the page has drawn and reacted to what came. In a hidden tab a
 * timer would take a second.
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

/** A text kept in the browser; null if none is kept. */
export interface StoredText {
  get(): string | null;
  set(text: string | null): void;
}

/** Kept in this tab only, until it is closed. */
export const inTab = (name: string): StoredText =>
  storedText(() => sessionStorage, name);

/** Kept in the browser. */
export const inBrowser = (name: string): StoredText =>
  storedText(() => localStorage, name);

/**
 * A browser that blocks storage throws at every access; nothing is kept then.
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
        // The page works without it.
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

/** A dropped file, which some browsers let the page read again later. */
export async function droppedFile(
  { items, files }: DataTransfer,
): Promise<{ file: File; handle: FileSystemFileHandle | null } | null> {
  const file = files[0];
  if (file === undefined) return null;
  // The items are gone once this function has waited.
  const item = items[0] as
    | (DataTransferItem & {
      getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
    })
    | undefined;
  const handle = await item?.getAsFileSystemHandle?.().catch(() => null);
  return {
    file,
    handle: handle?.kind === "file" ? handle as FileSystemFileHandle : null,
  };
}
