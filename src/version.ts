/** What this program calls itself. */
import manifest from "../deno.json" with { type: "json" };

export const VERSION: string = manifest.version;

/** The `User-Agent` of every request that goes out. */
export const USER_AGENT = `seller-interface/${VERSION}`;
