/**
 * A copy of the source in a temporary folder, in which files can be changed.
 */
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
