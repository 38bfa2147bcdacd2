/** Passwords and encryption, as the URL of the database requires them. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DbError } from "../../../src/database/db.ts";
import { openPostgres } from "../../../src/database/postgres/engine.ts";
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from "../../net/certificates.ts";
import { PostgresServer } from "../../support/postgres.ts";

const PASSWORD = "p@ss/word:?";

Deno.test("a connection uses the password and TLS of the URL, verified or not", async () => {
  await using server = await PostgresServer.start({
    "server.crt": CERTIFICATE,
    "server.key": PRIVATE_KEY,
    "postgresql.auto.conf": "ssl = on\n",
    "pg_hba.conf": "host all postgres 127.0.0.1/32 trust\n" +
      "hostssl all seller 127.0.0.1/32 scram-sha-256\n",
  });
  await server.sql("postgres", `CREATE USER seller PASSWORD '${PASSWORD}'`);
  await server.sql("postgres", "CREATE DATABASE shop OWNER seller");
  const authority = await Deno.makeTempFile();
  await Deno.writeTextFile(authority, AUTHORITY);
  const url = (query: string, password = PASSWORD) =>
    `postgres://seller:${
      encodeURIComponent(password)
    }@127.0.0.1:${server.port}/shop${query}`;
  const verified = `?sslmode=verify-full&sslrootcert=${
    encodeURIComponent(authority)
  }`;
  for (const query of ["?sslmode=require", verified]) {
    const db = await openPostgres({ url: url(query) });
    const used = await db.read((sql) =>
      sql.get<{ ssl: number }>(
        "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
      )
    );
    await db.close();
    assertEquals(used, { ssl: 1 }, query);
  }
  const refused = [
    url(""),
    url("?sslmode=verify-full"),
    url("?sslmode=require", `${PASSWORD}!`),
    url(verified).replace("127.0.0.1", "localhost"),
  ];
  for (const wrong of refused) {
    const error = await assertRejects(
      () => openPostgres({ url: wrong }),
      DbError,
    );
    assertEquals(error.kind, "away", wrong);
    assert(!error.message.includes("p@ss"), error.message);
  }
  await Deno.remove(authority);
});
