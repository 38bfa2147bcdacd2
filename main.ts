import { runCommandLine } from "./src/cli.ts";

Deno.exit(await runCommandLine(Deno.args));
