/** Data folders in memory, with a database that needs no more migrations. */
import { existsSync } from "node:fs";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { databaseFile } from "../../src/database/open.ts";

/** Files in memory where the system has any, else temporary ones. */
const ROOT = existsSync("/dev/shm") ? "/dev/shm" : undefined;
/** What a crash leaves; the index of the log is memory of the processes. */
const ON_DISK = ["", "-wal"];

/** The folders of one run of the simulation. */
export class DataFolders implements Disposable {
  readonly #root: string;
  readonly #template: string;
  #count = 0;

  private constructor(root: string, template: string) {
    this.#root = root;
    this.#template = template;
  }

  static async open(): Promise<DataFolders> {
    const root = Deno.makeTempDirSync({ dir: ROOT, prefix: "simulation-" });
    const template = `${root}/template.db`;
    await (await openSqlite(template)).close();
    return new DataFolders(root, template);
  }

  /** A folder with an empty database. */
  make(): string {
    const folder = this.empty();
    Deno.copyFileSync(this.#template, databaseFile(folder));
    return folder;
  }

  /** A folder with the files as they are on disk in another one. */
  copy(from: string): string {
    const folder = this.empty();
    for (const suffix of ON_DISK) {
      const file = databaseFile(from) + suffix;
      if (existsSync(file)) {
        Deno.copyFileSync(file, databaseFile(folder) + suffix);
      }
    }
    return folder;
  }

  remove(folder: string): void {
    Deno.removeSync(folder, { recursive: true });
  }

  empty(): string {
    const folder = `${this.#root}/${++this.#count}`;
    Deno.mkdirSync(folder);
    return folder;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#root, { recursive: true });
  }
}
