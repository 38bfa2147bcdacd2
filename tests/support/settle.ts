/** Lets all work continue that only waits for promises. */
export async function settle(turns = 20): Promise<void> {
  while (turns-- > 0) await Promise.resolve();
}
