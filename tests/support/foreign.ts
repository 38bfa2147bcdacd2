/** Programs of other projects. */

/** Runs a program to its end; a missing program counts as failed. */
export async function run(
  program: string,
  args: readonly string[],
  options: Omit<Deno.CommandOptions, "args"> = {},
): Promise<{ success: boolean; text: string }> {
  try {
    const { success, stdout, stderr } = await new Deno.Command(program, {
      ...options,
      args: [...args],
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    return { success, text: decoder.decode(stdout) + decoder.decode(stderr) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { success: false, text: error.message };
  }
}

/** Whether a program is installed; if not, prints what is not tested. */
export async function present(
  what: string,
  [program, ...args]: readonly [string, ...string[]],
): Promise<boolean> {
  const { success, text } = await run(program, args);
  if (!success) console.log(`not tried: ${what}, as ${program} says: ${text}`);
  return success;
}
