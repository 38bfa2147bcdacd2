/** A disk with a given capacity; only root can mount one. */

/**
 * Mounts it at `path`, with a size such as `6m`; null if that is not permitted.
 */
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
