/** Lets everything go on that waits for nothing but promises. */
export async function settle(turns = 20): Promise<void> {
  while (turns-- > 0) await Promise.resolve();
}
