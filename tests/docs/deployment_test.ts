/**
 * The commands of the chapters on deployment, backup and scaling, taken from
 * their text and run in order: as root, with the user that they create, in a
 * private mount namespace. The program's source replaces its binary.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { blocks, chapter } from "../support/handbook.ts";
import { installedPostgres, PostgresServer } from "../support/postgres.ts";
import {
  freePort,
  hasProgram,
  programFlags,
  temporaryFolder,
} from "../support/process.ts";
import { S3Server } from "../support/s3_server.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** The shell blocks that the test runs, identified by a part of their text. */
const RUN = {
  install: ["deployment", "useradd"],
  script: ["deployment", "chmod 755 /usr/local/bin/seller-admin"],
  add: ["deployment", "seller add acme"],
  start: ["deployment", "file seller-interface.service"],
  nginx: ["deployment", "file nginx.conf"],
  caddy: ["deployment", "/etc/caddy/Caddyfile"],
  backups: ["backup", "install -d -o seller -g seller -m 700 /var/backups"],
  backup: ["backup", "cp -au"],
  bucket: ["backup", "backup s3://"],
  replicate: ["backup", "litestream replicate"],
  replica: ["backup", "litestream restore"],
  restore: ["backup", "seller-interface.old\n"],
  rehearse: ["backup", "/var/lib/seller-rehearsal"],
  prune: ["backup", "seller-admin images prune"],
  upgrade: ["backup", "before-upgrade-$"],
  goBack: ["backup", "seller-interface.newer"],
  dump: ["backup", "pg_dump"],
  undump: ["backup", "pg_restore"],
  second: ["scaling", "seller-interface@jobs"],
  copy: ["scaling", "postgres://seller:…@db.example/seller"],
  copyBack: ["scaling", "sed -i /^SELLER_DATABASE_URL"],
} as const;

/** The others, and why this test does not run them. */
const OTHERS = {
  "deno task compile ": "tests/binary/compile_test.ts compiles, without denort",
  "seller-admin restore s3:": "tests/cli/object_backup_test.ts runs it",
  "npm install --global": "tests/contracts/source_install.ts runs it",
  "deno task build": "tests/contracts/source_install.ts runs it",
  "deno task --quiet program": "tests/contracts/source_install.ts runs it",
  "docker build": "needs a daemon and a registry of images: not tried",
  "docker compose": "needs a daemon and a registry of images: not tried",
  "SELLER_IMAGE_STORE=s3://pictures/seller":
    "settings; handbook_test.ts reads their values",
  "db-a:5432,db-b:5432": "a setting; deno task failover runs with one",
  "createuser":
    "asks for a password; the database is made by undump's createdb",
  "createdb -O seller": "tests/spread/operator.ts, with Citus",
  "citus_set_coordinator_host": "tests/spread/operator.ts, with Citus",
  "seller-admin database info": "tests/spread/operator.ts, with Citus",
  "citus_add_node('pg3'": "tests/spread/operator.ts, with Citus",
  "isolate_tenant_to_new_shard": "tests/spread/operator.ts, with Citus",
  "archive_mode": "tests/spread/operator.ts, with Citus",
  "pg_basebackup": "tests/spread/operator.ts, with Citus",
  "citus_create_restore_point": "tests/spread/operator.ts, with Citus",
  "pg_switch_wal": "tests/spread/operator.ts, with Citus",
  "recovery.signal": "tests/spread/operator.ts, with Citus",
};

Deno.test("every shell block of the operators' chapters is run, or has a reason not to be", () => {
  const known = [
    ...Object.values(RUN).map(([, part]) => part),
    ...Object.keys(OTHERS),
  ];
  for (const name of ["deployment", "backup", "scaling"]) {
    for (const { language, code } of blocks(chapter(name))) {
      if (language !== "sh") continue;
      const found = known.filter((part) => code.includes(part));
      assertEquals(found.length, 1, `${name}: ${code}${found}`);
    }
  }
});

/** The folders that the chapters write to; empty, or copies. */
const MOUNTS = `
mount -t tmpfs tmpfs /mnt
mkdir /mnt/etc /mnt/source /mnt/cached /mnt/bin
# Each user keeps compiled code there: a start without takes three times as long.
mkdir -m 777 /mnt/cache
cp -a /etc/. /mnt/etc
# This machine may run the service itself.
sed -i '/^seller:/d' /mnt/etc/passwd /mnt/etc/shadow /mnt/etc/group /mnt/etc/gshadow
rm -f /mnt/etc/seller-interface.env
mount --bind /mnt/etc /etc
mount --bind "$SOURCE" /mnt/source
mount --bind "$CACHE" /mnt/cached
ln -s /mnt/cached/gen /mnt/cached/npm /mnt/cache
cp "$DENO" /mnt/bin/deno
if command -v litestream > /dev/null; then
  cp "$(command -v litestream)" /mnt/bin/litestream
fi
mount -t tmpfs -o mode=755 tmpfs /var/lib
mount -t tmpfs -o mode=755 tmpfs /var/backups
mount -t tmpfs -o mode=755 tmpfs /usr/local
mkdir /usr/local/bin
if [ -e /mnt/bin/litestream ]; then cp /mnt/bin/litestream /usr/local/bin; fi
cd "$FOLDER"
mkdir -p /etc/systemd/system
`;

/** Does what systemd does with the chapters' unit, without its limits. */
const SYSTEMCTL = `
stop_service() { kill %% && wait %% || true; }
start_service() {
  local unit=$1 instance=$2
  : > "$FOLDER/log$instance"
  (
    set -a
    for file in $(sed -n s/^EnvironmentFile=//p "$unit"); do
      . "$(echo "$file" | sed "s/%i/$instance/")"
    done
    user=$(sed -n s/^User=//p "$unit")
    exec setpriv --reuid="$user" --regid="$user" --clear-groups \\
      $(sed -n s/^ExecStart=//p "$unit")
  ) > "$FOLDER/log$instance" 2>&1 &
  grep -q -m 1 -E '^(listening|metrics) on' \\
    < <(tail --pid=$! -n +1 -f "$FOLDER/log$instance")
}
systemctl() {
  local units=/etc/systemd/system name="\${!#}"
  local unit="$units/\${name/@*/@}.service" instance=""
  case $name in *@*) instance=\${name#*@} ;; esac
  case $1 in
    stop) stop_service ;;
    restart) stop_service; start_service "$unit" "$instance" ;;
    start | enable) start_service "$unit" "$instance" ;;
  esac
}
trap 'kill %% 2> /dev/null || true' EXIT
`;

/** The folders of programs as root has them, and then the caller's. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:" +
  (Deno.env.get("PATH") ?? "");

async function shell(
  script: string,
  env: Record<string, string>,
): Promise<{ success: boolean; text: string }> {
  const { success, stdout, stderr } = await new Deno.Command("unshare", {
    args: ["--mount", "bash", "-euo", "pipefail", "-c", script],
    env: { ...env, PATH },
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

function block(step: keyof typeof RUN): string {
  const [name, part] = RUN[step];
  const found = blocks(chapter(name))
    .filter(({ language, code }) => language === "sh" && code.includes(part));
  assertEquals(found.length, 1, `${name}: ${part}`);
  return found[0].code;
}

/**
 * Runs the chapter's `pg_dump` and its counterpart, then checks the result;
 * does nothing without a `pg_dump` of the server's version.
 */
function dumpAndRestore(installation: string | undefined, url: string) {
  if (installation === undefined) {
    console.log("not tried: the chapter's pg_dump, which is not installed");
    return [];
  }
  const { port, pathname, username } = new URL(url);
  const commands = block("dump") + block("undump");
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

/** The chapter's lines for a proxy, checked by the proxy itself. */
function proxies(): string[] {
  const nginx = hasProgram("/usr/sbin/nginx", "-v");
  if (!nginx) console.log("not tried: the chapter's lines for nginx");
  const caddy = hasProgram("caddy", "version");
  if (!caddy) console.log("not tried: the chapter's lines for Caddy");
  const [take, check] = nginx ? block("nginx").split("\n") : [];
  return [
    ...nginx
      ? [
        take,
        // The file asks the reader to change the certificate's file names.
        "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=api.example.com " +
        "-keyout /etc/ssl/api.example.com.key -out /etc/ssl/api.example.com.pem",
        check,
        "echo nginx took it",
      ]
      : [],
    ...caddy
      ? [
        block("caddy"),
        "HOME=$FOLDER XDG_DATA_HOME=$FOLDER caddy validate --config /etc/caddy/Caddyfile",
        "echo caddy took it",
      ]
      : [],
  ];
}

const REPLICA = "file:///var/backups/seller-interface/replica";

/**
 * The chapter's lines for Litestream, with a folder instead of a bucket; the
 * result is restored into a new folder.
 */
function litestream(): string[] {
  if (!hasProgram("litestream", "version")) {
    console.log("not tried: the chapter's lines for Litestream");
    return [];
  }
  const replicate = block("replicate").replace("s3://backup/seller", REPLICA);
  const replica = block("replica").replace("s3://backup/seller", REPLICA);
  return [
    `${replicate.trimEnd()} > "$FOLDER/litestream.log" 2>&1 &`,
    "litestream=$!",
    "seller-admin seller add late",
    `try() {
  rm -rf /var/backups/seller-interface/seller.db "$FOLDER/again"
  ${replica.trimEnd()} && seller-interface restore --data="$FOLDER/again" \\
    /var/backups/seller-interface/seller.db &&
    seller-interface seller list --data="$FOLDER/again" | grep late
}`,
    'for _ in $(seq 60); do if try > "$FOLDER/try" 2>&1; then break; fi; sleep 0.5; done',
    'cat "$FOLDER/try"; echo replica read',
    "kill $litestream && wait $litestream || true",
  ];
}

/** Replaces the compiled program, which needs no other files. */
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
    await using bucket = new S3Server();
    const { SELLER_IMAGE_STORE: _, ...storage } = bucket.env();
    await using folder = await temporaryFolder();
    await writeProgram(folder.path);
    const { success, text } = await shell(
      [
        MOUNTS + SYSTEMCTL,
        block("install"),
        block("script"),
        `echo SELLER_PORT=${freePort()} >> /etc/seller-interface.env`,
        block("start"),
        block("add"),
        "test \"$(stat -c '%U %a' /var/lib/seller-interface/seller.db)\" = 'seller 600'",
        block("backups"),
        block("backup"),
        "env -i PATH=/usr/bin:/bin /usr/local/bin/seller-admin seller list", // cron
        block("prune"),
        "seller-admin seller add lost",
        block("restore").replace(
          "2026-11-21T0300.db",
          "*.db",
        ),
        "echo restored; seller-admin seller list; echo listed",
        // For a process that reads it before another one has created it.
        'touch "$FOLDER/rehearsal"',
        block("rehearse")
          .replace("2026-11-21T0300.db", "*.db")
          .replace("--port=8089", `--port=${freePort()}`).trimEnd() +
        ' > "$FOLDER/rehearsal" 2>&1 &',
        "grep -q -m 1 '^listening' < <(tail --pid=$! -n +1 -f \"$FOLDER/rehearsal\")",
        "echo rehearsed; seller-admin seller list --data=/var/lib/seller-rehearsal",
        // It has no settings, so it can send nothing to anybody.
        'grep -q \'"SELLER_OPERATOR_KEY":null\' "$FOLDER/rehearsal"',
        "kill $! && wait $! || true",
        block("upgrade"),
        "seller-admin seller add newer",
        block("goBack").replace("-2026-11-21T0300.db", "-*.db"),
        "echo older; seller-admin seller list; echo listed",
        ...Object.entries(storage).map(([name, value]) =>
          `echo '${name}=${value}' >> /etc/seller-interface.env`
        ),
        block("bucket").replace("s3://backups/", "s3://pictures/"),
        "sed -i /SELLER_S3/d /etc/seller-interface.env",
        block("second").replaceAll("9091", `${freePort()}`),
        "stop_service",
        ...litestream(),
        ...proxies(),
        block("copy").replace(
          /postgres:[^']+/,
          url,
        ),
        "echo moved; seller-admin seller list",
        ...dumpAndRestore(installation, url),
        "cp /etc/seller-interface.env $FOLDER/env",
        "sed -i /DATABASE_URL/d /etc/seller-interface.env",
        "seller-admin seller list || echo refused: $?",
        "cp $FOLDER/env /etc/seller-interface.env",
        "seller-admin seller add moved",
        block("copyBack"),
        "echo back; seller-admin seller list | grep moved",
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
    assertMatch(text, /^older\n\S+ {2}.+ acme\nlisted$/m, text);
    assertMatch(text, /^rehearsed\n\S+ {2}.+ acme$/m, text);
    assertEquals(bucket.objects.size, 1, text);
    if (hasProgram("litestream", "version")) {
      assertMatch(text, /^\S+ {2}.+ late\nreplica read$/m, text);
    }
    assertMatch(text, /^FROM is marked as moved to postgres:.+$/m, text);
    assertMatch(text, /^moved\n(?:.+\n)*?\S+ {2}.+ acme$/m, text);
    if (installation !== undefined) {
      assertMatch(text, /^dumped\n(?:.+\n)*?\S+ {2}.+ acme$/m, text);
    }
    assertMatch(text, /^refused: 1$/m, text);
    assertMatch(text, /was copied to postgres:/, text);
    assertMatch(text, /^back\n\S+ {2}.+ moved$/m, text);
  },
});
