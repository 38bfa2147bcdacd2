/** A copy of the source in a temporary folder, in which something is changed. */
const ROOT = new URL("../../", import.meta.url).pathname;
/** What tests and the simulation read. */
const PARTS = ["src", "tests", "deno.json", "deno.lock", "main.ts"];

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

  /** Changes a file of `src/` until the result is disposed of. */
  async change(
    file: string,
    change: (text: string) => string,
  ): Promise<Disposable> {
    const path = `${this.folder}/src/${file}`;
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, change(text));
    return { [Symbol.dispose]: () => Deno.writeTextFileSync(path, text) };
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}
