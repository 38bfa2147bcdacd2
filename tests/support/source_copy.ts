/**
 * Copies of the source in temporary folders, in which files can be changed.
 */
import { inParallel } from "../../src/lib/in_parallel.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** What tests and the simulation read. */
const PARTS = ["src", "tests", "deno.json", "deno.lock", "main.ts"];
/** What the page and the client are built of, and nothing else. */
const BUILT = /^(web|client)\//;

export class SourceCopy implements Disposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(prefix: string): Promise<SourceCopy> {
    const copy = new SourceCopy(Deno.makeTempDirSync({ prefix }));
    const { success } = await new Deno.Command("cp", {
      args: ["-a", ...PARTS.map((part) => `${ROOT}${part}`), copy.folder],
    }).output();
    if (!success) throw new Error("the source cannot be copied");
    return copy;
  }

  /**
   * Changes a file of `src/` until the result is disposed of. Its time stays as
   * it is, so that the page and the client are not built anew in each process
   * that plays with the copy; a change of their own folders is built.
   */
  async change(
    file: string,
    change: (text: string) => string,
  ): Promise<Disposable> {
    const path = `${this.folder}/src/${file}`;
    const { mtime } = await Deno.stat(path);
    const write = (text: string) => {
      Deno.writeTextFileSync(path, text);
      if (!BUILT.test(file)) Deno.utimeSync(path, mtime!, mtime!);
    };
    const text = await Deno.readTextFile(path);
    write(change(text));
    return { [Symbol.dispose]: () => write(text) };
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

/** Several copies of the source, so that several changes can be tried at once. */
export class SourceCopies implements Disposable {
  readonly all: readonly SourceCopy[];

  private constructor(all: readonly SourceCopy[]) {
    this.all = all;
  }

  static async make(count: number, prefix: string): Promise<SourceCopies> {
    const all: SourceCopy[] = [];
    while (all.length < count) all.push(await SourceCopy.make(prefix));
    return new SourceCopies(all);
  }

  /**
   * Calls `fn` for each item, with a copy that no other call uses meanwhile;
   * returns the results in the order of the items.
   */
  forEach<T, R>(
    items: readonly T[],
    fn: (item: T, copy: SourceCopy) => Promise<R>,
  ): Promise<R[]> {
    const free = [...this.all];
    return inParallel(this.all.length, items, async (item) => {
      const copy = free.pop()!;
      try {
        return await fn(item, copy);
      } finally {
        free.push(copy);
      }
    });
  }

  [Symbol.dispose](): void {
    for (const copy of this.all) copy[Symbol.dispose]();
  }
}
