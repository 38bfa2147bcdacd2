/** Loads code that a file needs. */
import { STALE_PAGE } from "../lib/texts.ts";
import { intake } from "./intake_state.ts";

/** Loads code. If this fails, shows an error on the page and returns null. */
export async function loadedCode<T>(
  name: string,
  load: () => Promise<T>,
): Promise<T | null> {
  try {
    return await load();
  } catch {
    const refused = { name, what: "not read", remedy: STALE_PAGE };
    intake.set({ name: "refused", refused });
    return null;
  }
}
