import { runCommandLine } from "./src/cli/main.ts";

Deno.exit(await runCommandLine(Deno.args));
