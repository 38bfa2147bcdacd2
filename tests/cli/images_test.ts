import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { S3Server, SECRET_KEY } from "../support/s3_server.ts";
import { runProgram, temporaryFolder } from "../support/process.ts";

const BYTES = new TextEncoder().encode("an image");
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
const FILE = `${SHA256.slice(0, 2)}/${SHA256}.png`;

Deno.test("images: verify and prune work on object storage, too", async () => {
  await using folder = await temporaryFolder();
  await using server = new S3Server();
  const env = server.env();
  const data = `--data=${folder.path}`;
  const images = (...words: string[]) =>
    runProgram(["images", ...words, data], { env });
  await (await openSqlite(`${folder.path}/seller.db`)).close();
  server.put(`shop/images/${FILE}`, BYTES, Date.now() - 3_600_000);

  assertEquals((await images("verify")).stdout, "checked: 0\n");
  const listed = await images("prune");
  assertEquals(listed.stdout, `${FILE}\nunused: 1 file, 8 bytes\n`);
  assertEquals(server.objects.size, 1);
  const removed = await images("prune", "--delete");
  assertEquals(removed.stdout, `${FILE}\nremoved: 1 file, 8 bytes\n`);
  assertEquals(server.objects.size, 0);

  env.SELLER_S3_SECRET_KEY = `${SECRET_KEY}x`;
  const refused = await images("prune");
  assertEquals(refused.code, 1);
  assertStringIncludes(refused.stderr, "SignatureDoesNotMatch");
  assert(!refused.stderr.includes(SECRET_KEY), "the key is told");
});
