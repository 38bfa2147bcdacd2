/**
 * The installation from the source, by the commands of the chapter on
 * deployment, in a root that has Debian's programs and npm and nothing else of
 * this machine; then the program runs as the user that the chapter creates. Not
 * part of `deno task check`, because Deno comes from npm: `deno task contracts`.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { blocks, chapter } from "../support/handbook.ts";
import { present, run } from "../support/foreign.ts";
import { freePort, temporaryFolder } from "../support/process.ts";

const REPOSITORY = new URL("../../", import.meta.url).pathname;

/** Makes the root `$ROOT` and runs the script `/commands` in it. */
const ENTER = `
mount -t tmpfs -o mode=755 tmpfs "$ROOT"
cd "$ROOT"
for name in bin sbin lib lib32 lib64 usr; do
  if [ -L "/$name" ]; then cp -P "/$name" "$name"
  elif [ -e "/$name" ]; then mkdir "$name" && mount --rbind "/$name" "$name"; fi
done
mkdir -m 1777 tmp
mkdir dev proc opt root run var
mkdir -p var/lib checkout
cp -a /etc etc
sed -i '/^seller:/d' etc/passwd etc/shadow etc/group etc/gshadow
rm -f etc/seller-interface.env
mount --rbind /dev dev
mount -t proc proc proc
mount -t tmpfs -o mode=755 tmpfs usr/local
mkdir usr/local/bin
cp "$FOLDER/source.tar" "$FOLDER/commands" .
exec chroot . /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  NODE_EXTRA_CA_CERTS="\${NODE_EXTRA_CA_CERTS:-}" DENO_TLS_CA_STORE=system,mozilla \
  bash -euo pipefail /commands
`;

function block(part: string): string {
  const found = blocks(chapter("deployment"))
    .filter(({ language, code }) => language === "sh" && code.includes(part));
  assertEquals(found.length, 1, part);
  return found[0].code;
}

const canRun = Deno.uid() === 0 &&
  await present("the installation from the source", [
    "unshare",
    "--mount",
    "--pid",
    "--fork",
    "bash",
    "-c",
    "mount -t tmpfs tmpfs /mnt && npm view deno@2.9.6 version",
  ]);

Deno.test({
  name:
    "the source is installed and runs as an unprivileged user, as the chapter says",
  ignore: !canRun,
  async fn() {
    await using folder = await temporaryFolder();
    await using root = await temporaryFolder();
    const archive = `${folder.path}/source.tar`;
    const made = await run("git", ["archive", "--output", archive, "HEAD"], {
      cwd: REPOSITORY,
    });
    assert(made.success, made.text);
    const port = freePort();
    const install = block("useradd");
    const binary = install.split("\n")[0];
    assertMatch(binary, /^install .*bin\/seller-interface$/);
    const commands = [
      block("npm install --global"),
      block("deno task build").replace("git archive HEAD", "cat /source.tar"),
      block("deno task --quiet program"),
      install.replace(binary, ""),
      block("chmod 755 /usr/local/bin/seller-admin"),
      `echo SELLER_PORT=${port} >> /etc/seller-interface.env`,
      "cd /",
      "seller-admin --version",
      "seller-admin seller add acme",
      "seller-admin serve > /tmp/log 2>&1 &",
      "grep -q -m 1 '^listening on' < <(tail --pid=$! -n +1 -f /tmp/log)",
      "seller-admin health --ready",
      "ps -o user= -C deno | sort -u",
      "kill %% && wait %% || true",
      "stat -c '%U %a' /var/lib/seller-interface/seller.db",
    ];
    await Deno.writeTextFile(`${folder.path}/commands`, commands.join("\n"));
    const { success, text } = await run("unshare", [
      "--mount",
      "--pid",
      "--fork",
      "bash",
      "-euo",
      "pipefail",
      "-c",
      ENTER,
    ], { env: { ROOT: root.path, FOLDER: folder.path } });
    assert(success, text);
    assertMatch(text, /^seller-interface 1\.\d+\.\d+/m);
    assertMatch(text, /sk_[\w-]+/);
    assertMatch(text, /^seller$/m);
    assertMatch(text, /^seller 600$/m);
  },
});
