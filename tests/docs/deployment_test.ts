/**
 * The commands of the chapters on deployment, backup and scaling, run in their
 * order from their own text: as root, with the user that they create, in mounts
 * that nobody else sees. The program's source stands in for its binary.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { blocks, chapter } from "../support/handbook.ts";
import { installedPostgres, PostgresServer } from "../support/postgres.ts";
import { freePort, programFlags, temporaryFolder } from "../support/process.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** The folders that the chapters write to, empty or as copies. */
const MOUNTS = `
mount -t tmpfs tmpfs /mnt
mkdir /mnt/etc /mnt/source /mnt/cache /mnt/bin
cp -a /etc/. /mnt/etc
mount --bind /mnt/etc /etc
mount --bind "$SOURCE" /mnt/source
mount --bind "$CACHE" /mnt/cache
cp "$DENO" /mnt/bin/deno
mount -t tmpfs -o mode=755 tmpfs /var/lib
mount -t tmpfs -o mode=755 tmpfs /var/backups
mount -t tmpfs -o mode=755 tmpfs /usr/local
mkdir /usr/local/bin
cd "$FOLDER"
mkdir -p /etc/systemd/system
`;

/** What systemd does with the chapters' unit, without its limits. */
const SYSTEMCTL = `
stop_service() { kill %% && wait %% || true; }
start_service() {
  local unit=/etc/systemd/system/seller-interface.service
  : > "$FOLDER/log"
  (
    set -a
    . "$(sed -n s/^EnvironmentFile=//p $unit)"
    user=$(sed -n s/^User=//p $unit)
    exec setpriv --reuid="$user" --regid="$user" --clear-groups \\
      $(sed -n s/^ExecStart=//p $unit)
  ) > "$FOLDER/log" 2>&1 &
  grep -q -m 1 '^listening' < <(tail --pid=$! -n +1 -f "$FOLDER/log")
}
systemctl() {
  case $1 in
    stop) stop_service ;;
    restart) stop_service; start_service ;;
    start | enable) start_service ;;
  esac
}
trap 'kill %% 2> /dev/null || true' EXIT
`;

async function shell(
  script: string,
  env: Record<string, string>,
): Promise<{ success: boolean; text: string }> {
  const { success, stdout, stderr } = await new Deno.Command("unshare", {
    args: ["--mount", "bash", "-euo", "pipefail", "-c", script],
    env,
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { success, text: decode(stdout) + decode(stderr) };
}

async function canRun(): Promise<boolean> {
  const needed = "runuser useradd openssl install cp mount";
  const can = Deno.uid() === 0 &&
    await shell(`command -v ${needed} && mount -t tmpfs tmpfs /mnt`, {})
      .then(({ success }) => success, () => false);
  if (!can) console.log("not tried: the chapters' commands, which need root");
  return can;
}

/** The shell blocks of a section that contain `part`. */
function steps(name: string, part: string): string {
  const found = blocks(chapter(name))
    .filter(({ language, code }) => language === "sh" && code.includes(part));
  assertEquals(found.length, 1, `${name}: ${part}`);
  return found[0].code;
}

/**
 * The chapter's `pg_dump` and its counterpart, then a look at what they made;
 * nothing where there is no `pg_dump` of the server's version.
 */
function dumpAndRestore(installation: string | undefined, url: string) {
  if (installation === undefined) {
    console.log("not tried: the chapter's pg_dump, which is not installed");
    return [];
  }
  const { port, pathname, username } = new URL(url);
  const commands = steps("backup", "pg_dump") + steps("backup", "pg_restore");
  return [
    `PATH=$PATH:${installation}/bin`,
    commands.replace(/^rclone .*\n/m, "")
      .replaceAll("--host=db.internal", `--host=127.0.0.1 --port=${port}`)
      .replace("--username=postgres", `--username=${username}`)
      .replace("--owner=seller", `--owner=${username}`)
      .replaceAll("seller@db.internal", `${username}@127.0.0.1:${port}`)
      .replace(/\/seller"/, `${pathname}"`),
    `sed -i 's/^SELLER_DATABASE_URL=.*/SELLER_DATABASE_URL=postgres:\\/\\/${username}@127.0.0.1:${port}\\/seller_restored/' /etc/seller-interface.env`,
    "echo dumped; seller-admin seller list",
  ];
}

/** In place of the compiled program, which needs nothing beside it. */
async function writeProgram(folder: string): Promise<void> {
  const flags = (await programFlags()).map((flag) => `'${flag}'`).join(" ");
  await Deno.mkdir(`${folder}/bin`);
  await Deno.writeTextFile(
    `${folder}/bin/seller-interface`,
    `#!/bin/sh
export DENO_DIR=/mnt/cache HOME=/nonexistent DENO_NO_UPDATE_CHECK=1
exec /mnt/bin/deno run ${flags} --no-check --cached-only --quiet \\
  /mnt/source/main.ts "$@"
`,
  );
}

async function denoFolder(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json"],
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

Deno.test({
  name: "the commands of the chapters for operators work as they are written",
  ignore: !await canRun(),
  async fn() {
    const installation = await installedPostgres() ?? undefined;
    await using server = await PostgresServer.start({}, {}, { installation });
    const url = await server.database({ empty: true });
    await using folder = await temporaryFolder();
    await writeProgram(folder.path);
    const { success, text } = await shell(
      [
        MOUNTS + SYSTEMCTL,
        steps("deployment", "useradd"),
        steps("deployment", "chmod 755 /usr/local/bin/seller-admin"),
        `echo SELLER_PORT=${freePort()} >> /etc/seller-interface.env`,
        steps("deployment", "systemctl enable"),
        steps("deployment", "seller add acme"),
        "test \"$(stat -c '%U %a' /var/lib/seller-interface/seller.db)\" = 'seller 600'",
        steps("backup", "install -d -o seller -g seller -m 700 /var/backups"),
        steps("backup", "cp -au"),
        steps("backup", "seller-admin images prune"),
        "seller-admin seller add lost",
        steps("backup", "seller-admin restore /var").replace(
          "2026-11-21T0300.db",
          "*.db",
        ),
        "echo restored; seller-admin seller list; echo listed",
        steps("scaling", "postgres://seller:…@db.example/seller").replace(
          /postgres:[^']+/,
          url,
        ),
        "echo moved; seller-admin seller list",
        ...dumpAndRestore(installation, url),
        "sed -i /DATABASE_URL/d /etc/seller-interface.env",
        "seller-admin seller list || echo refused: $?",
      ].join("\n"),
      {
        SOURCE: ROOT,
        CACHE: await denoFolder(),
        DENO: Deno.execPath(),
        FOLDER: folder.path,
      },
    );
    assert(success, text);
    assertMatch(text, /^api_key: \S+$/m, text);
    assertMatch(text, /^restored\n\S+ {2}.+ acme\nlisted$/m, text);
    assertMatch(text, /^FROM is marked as moved to postgres:.+$/m, text);
    assertMatch(text, /^moved\n\S+ {2}.+ acme$/m, text);
    if (installation !== undefined) {
      assertMatch(text, /^dumped\n\S+ {2}.+ acme$/m, text);
    }
    assertMatch(text, /^refused: 1$/m, text);
    assertMatch(text, /was copied to postgres:/, text);
  },
});
