/** Programs of others. */

/** A program's end; that of one which the machine does not have is no success. */
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

/** Whether a program is there; says what is not tried where it is not. */
export async function present(
  what: string,
  [program, ...args]: readonly [string, ...string[]],
): Promise<boolean> {
  const { success, text } = await run(program, args);
  if (!success) console.log(`not tried: ${what}, as ${program} says: ${text}`);
  return success;
}
