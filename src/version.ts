/** The name and version of this program. */
import manifest from "../deno.json" with { type: "json" };

export const VERSION: string = manifest.version;

/** `git archive`, which makes a release, replaces this by the commit. */
const ARCHIVED = "$Format:%h$";

/** The commit of a release; null for a checkout. */
export const COMMIT: string | null = ARCHIVED.startsWith("$") ? null : ARCHIVED;

/** The `User-Agent` of every outgoing request. */
export const USER_AGENT = `seller-interface/${VERSION}`;
