/** MinIO, a real S3 server, if this machine has it. */
import { systemClock } from "../../src/deps.ts";
import { S3Client, type S3Settings } from "../../src/object_storage/client.ts";
import { S3Server, settingsOf } from "./s3_server.ts";
import { type SharedServer, startOrFind } from "./shared.ts";

const SECRET = "hush/and+never/told";
const SETTINGS = {
  region: "eu-test-1",
  bucket: "pictures",
  accessKey: "TESTACCESSKEY",
  secretKey: SECRET,
};

export const hasMinio = await isInstalled();
if (!hasMinio) {
  console.log("not tried: S3 on a real server, as there is no minio");
}

async function isInstalled(): Promise<boolean> {
  try {
    const command = new Deno.Command("minio", { args: ["--version"] });
    return (await command.output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** A new prefix in the bucket of the shared server. */
export async function minioSettings(): Promise<S3Settings> {
  const endpoint = await startOrFind("minio", start);
  return { ...SETTINGS, endpoint, prefix: `test-${crypto.randomUUID()}` };
}

/** Registers a test on the server of the tests, and on MinIO. */
export function onBothStorages(
  name: string,
  check: (settings: S3Settings) => Promise<void>,
): void {
  Deno.test(`object storage: ${name}`, async () => {
    await using server = new S3Server();
    await check(settingsOf(server));
  });
  Deno.test({
    name: `object storage: ${name} (MinIO)`,
    ignore: !hasMinio,
    fn: async () => await check(await minioSettings()),
  });
}

async function start(): Promise<SharedServer> {
  const folder = await Deno.makeTempDir({ prefix: "seller-minio-" });
  await Deno.mkdir(`${folder}/${SETTINGS.bucket}`);
  const address = freeAddress();
  const child = new Deno.Command("minio", {
    args: ["server", "--quiet", "--address", address, folder],
    env: {
      MINIO_ROOT_USER: SETTINGS.accessKey,
      MINIO_ROOT_PASSWORD: SECRET,
      MINIO_SITE_REGION: SETTINGS.region,
      MINIO_BROWSER: "off",
      MINIO_UPDATE: "off",
    },
    detached: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  child.unref();
  const endpoint = `http://${address}`;
  await answers({ ...SETTINGS, endpoint, prefix: "" });
  return { address: endpoint, pid: child.pid, signal: "KILL", folder };
}

function freeAddress(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { hostname, port } = listener.addr as Deno.NetAddr;
  return `${hostname}:${port}`;
}

/** The server listens before it can serve. */
async function answers(settings: S3Settings): Promise<void> {
  const client = new S3Client(settings, systemClock);
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      return await client.putProbe();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}
