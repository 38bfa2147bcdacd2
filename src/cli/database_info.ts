/** The command that lists the servers of the database. */
import { describeDatabase } from "../monitoring/database_info.ts";
import { sellerByName } from "../sellers/seller_rows.ts";
import { flag, line } from "./command.ts";
import { databaseCommand } from "./database.ts";

export const databaseInfoCommand = databaseCommand({
  name: "database info",
  summary: "list the servers of the database: name, state, sellers, bytes",
  flags: [flag("seller", "NAME", "only the server of this seller")],
  run: async ({ db, config: { databaseUrl }, flags: { seller }, print }) => {
    const of = seller === undefined
      ? null
      : await db.read((sql) => sellerByName(sql, seller));
    const { engine, shards, servers } = await describeDatabase(
      { db, databaseUrl },
      of?.no ?? null,
    );
    print(line(`engine: ${engine}`, ...(shards ? [`shards: ${shards}`] : [])));
    for (const { name, state, sellers, bytes } of servers) {
      print(line(name, state, `sellers: ${sellers}`, `bytes: ${bytes ?? "-"}`));
    }
  },
});
