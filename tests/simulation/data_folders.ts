/**
 * Data folders in memory, with a database whose migrations have already run.
 */
import { existsSync } from "node:fs";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { databaseFile } from "../../src/database/open.ts";

/** A file system in memory if the system has one, otherwise temporary files. */
const ROOT = existsSync("/dev/shm") ? "/dev/shm" : undefined;
/**
 * The files that survive a crash; the index of the log is memory of the
 * processes.
 */
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

  /** A folder with the files that another one has on disk. */
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
