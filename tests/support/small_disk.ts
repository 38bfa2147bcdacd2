/** A disk that is full when it holds so much; only root can mount one. */

/** Mounts it at `path`, of a size as in `6m`; null without the right to. */
export async function mountSmall(
  path: string,
  size: string,
): Promise<AsyncDisposable | null> {
  const run = async (command: string, ...args: string[]) => {
    const result = await new Deno.Command(command, {
      args,
      stderr: "null",
      stdout: "null",
    }).output().catch(() => null);
    return result?.success ?? false;
  };
  await Deno.mkdir(path);
  const options = `size=${size}`;
  if (!await run("mount", "-t", "tmpfs", "-o", options, "tmpfs", path)) {
    return null;
  }
  return {
    [Symbol.asyncDispose]: async () => {
      await run("umount", "-l", path);
    },
  };
}
