/**
 * `deno task agents N [PROGRAM] [--port=PORT]`: prints the prompt of scenario N
 * and serves what an agent may read; with a program, judges it on a new service.
 */
import { SCENARIOS, tasks } from "./scenarios.ts";
import { World } from "./world.ts";

const port = Number(
  Deno.args.find((arg) => arg.startsWith("--port="))?.slice(7) ?? 0,
);
const [number, program] = Deno.args.filter((arg) => !arg.startsWith("--"));
const task = tasks()[Number(number) - 1];
if (task === undefined) {
  console.error(`Usage: deno task agents N [PROGRAM], where N is one of\n`);
  tasks().forEach(({ title }, i) => console.error(`${i + 1}  ${title}`));
  Deno.exit(2);
}
Deno.exit(program === undefined ? await serve() : await judge());

/** Until Ctrl-C. */
async function serve(): Promise<number> {
  await using world = await World.open(port);
  await SCENARIOS[Number(number) - 1](world);
  await world.addClient();
  const variables = Object.entries(world.environment)
    .filter(([name]) => task.prompt.includes(name));
  console.log(
    [
      `# ${number}. ${task.title}`,
      "",
      task.prompt,
      "",
      `Read ${world.proxy.url}/llms.txt, the pages that it links, and`,
      `${world.proxy.url}/openapi.json, and nothing else about the service. You`,
      "may send requests to it with these variables:",
      "",
      ...variables.map(([name, value]) => `${name}=${value}`),
      "",
      `The files of the task are in ${world.folder}.`,
    ].join("\n"),
  );
  const stopped = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, stopped.resolve);
  }
  await stopped.promise;
  return 0;
}

async function judge(): Promise<number> {
  await using world = await World.open();
  const judge = await SCENARIOS[Number(number) - 1](world);
  await world.install(program, await Deno.readTextFile(program));
  const missing = await judge();
  console.log(missing.length === 0 ? "ok" : missing.join("\n"));
  return missing.length === 0 ? 0 : 1;
}
