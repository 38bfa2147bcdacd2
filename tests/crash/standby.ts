/**
 * `deno task failover`: the standby takes over from a primary that fails in
 * every way. Needs PostgreSQL from Debian's packages.
 */
import { checkSometimes } from "../support/sometimes.ts";
import { failOver } from "./failover.ts";

console.log(await failOver(console.log));
console.log("nothing acknowledged was lost");
Deno.exit(checkSometimes("failover", 1) ? 0 : 1);
