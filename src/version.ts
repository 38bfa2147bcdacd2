/** What this program calls itself. */
import manifest from "../deno.json" with { type: "json" };

export const VERSION: string = manifest.version;

/** `git archive`, which a release is made from, writes the commit in here. */
const ARCHIVED = "$Format:%h$";

/** The commit of a release; null for a checkout. */
export const COMMIT: string | null = ARCHIVED.startsWith("$") ? null : ARCHIVED;

/** The `User-Agent` of every request that goes out. */
export const USER_AGENT = `seller-interface/${VERSION}`;
