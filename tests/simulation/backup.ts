/** A copy of a world's database, made while the service runs. */
import { databaseFile, openDatabase } from "../../src/database/open.ts";
import { checkSqlite } from "../../src/database/sqlite/schema.ts";
import { testConfig } from "../support/config.ts";
import type { Machine } from "./machine.ts";
import { Life } from "./process.ts";
import { Reader } from "./reader.ts";

export class Backup implements Disposable {
  readonly #machine: Machine;
  readonly #folder: string;
  readonly #reader: Reader;

  /**
   * Copies like the command `backup`, on a new connection.
   * @throws the command's error, or that the copy cannot be used
   */
  static async make(machine: Machine): Promise<Backup> {
    const folder = machine.folders.empty();
    const file = databaseFile(folder);
    try {
      await copy(machine, file);
      checkSqlite(file, "the copy");
      return new Backup(machine, folder);
    } catch (error) {
      machine.folders.remove(folder);
      throw error;
    }
  }

  private constructor(machine: Machine, folder: string) {
    this.#machine = machine;
    this.#folder = folder;
    this.#reader = new Reader(databaseFile(folder));
  }

  rows<T = Record<string, unknown>>(sql: string): T[] {
    return this.#reader.all(sql) as T[];
  }

  [Symbol.dispose](): void {
    this.#reader[Symbol.dispose]();
    this.#machine.folders.remove(this.#folder);
  }
}

async function copy(machine: Machine, file: string): Promise<void> {
  const config = (dataDir: string) => testConfig({ dataDir });
  const life = new Life({ name: "backup", machine, config }, "backup");
  try {
    const { deps } = life;
    const db = await openDatabase(config(machine.dataDir), { deps });
    await db.backup(file);
    await db.close();
  } finally {
    life.end();
  }
}
