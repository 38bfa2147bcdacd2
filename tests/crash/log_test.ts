/** The log of the real program when its reader stalls. */
import { assert, assertEquals, assertLess } from "@std/assert";
import { inTime, until } from "../support/clock.ts";
import { parseMetrics } from "../support/metrics.ts";
import { type Program, temporaryFolder } from "../support/process.ts";
import { OPERATOR, Service } from "../processes/service.ts";

const LOST = "seller_log_lines_lost_total";
const AT_ONCE = 50;
/** This many lines fill the pipe. */
const FILLING = 1_000;
/** Closing may take 9 s, and the last lines one more. */
const CLOSED_MS = 15_000;

/** Each request makes a line of the log. */
async function send({ url }: Program, requests: number): Promise<void> {
  const answers = Array.from({ length: requests }, async () => {
    const headers = { "X-Request-Id": "x".repeat(100) };
    const response = await fetch(`${url}/healthz`, { headers });
    await response.body?.cancel();
    assertEquals(response.status, 200);
  });
  await inTime(Promise.all(answers), "answers");
}

async function linesLost({ url }: Program): Promise<number> {
  const headers = { Authorization: `Bearer ${OPERATOR}` };
  const response = await fetch(`${url}/metrics`, { headers });
  return parseMetrics(await response.text()).get(LOST)!;
}

/**
 * A service that logs each request, and whose log is read from `reading` on.
 */
function startUnread(
  folder: string,
  reading: Promise<void>,
): Promise<Service> {
  return Service.start(folder, {
    env: { SELLER_LOG: "debug" },
    errorsFrom: reading,
  });
}

/** Sends requests until lines of the log are lost; returns how many it sent. */
async function sendUntilLost(program: Program): Promise<number> {
  let sent = 0;
  await until(async () => {
    await send(program, AT_ONCE);
    sent += AT_ONCE;
    return await linesLost(program) > 0;
  }, "lost lines");
  return sent;
}

Deno.test("while nobody reads its log the service answers, and later logs how much was lost", async () => {
  await using folder = await temporaryFolder();
  const reading = Promise.withResolvers<void>();
  await using service = await startUnread(folder.path, reading.promise);
  const { program } = service;
  let sent = await sendUntilLost(program);
  await send(program, AT_ONCE);
  sent += AT_ONCE;
  const lost = await linesLost(program);
  reading.resolve();
  const reported = JSON.parse(await program.errorLine(/"log_lines_lost"/));
  assert(reported.lines >= lost, `${reported.lines} of ${lost}`);
  assertLess(Date.parse(reported.since), Date.parse(reported.time));
  const { code, stderr } = await program.stop();
  assertEquals(code, 0);
  const lines = stderr.split("\n").map((line) => JSON.parse(line));
  const written = lines.filter(({ event, route }) =>
    event === "request" && route === "/healthz"
  );
  assert(
    written.length + reported.lines >= sent,
    "a line is written or counted",
  );
  assertEquals(lines.at(-1).event, "stopped");
});

Deno.test("a signal ends a service whose log nobody reads", async () => {
  await using folder = await temporaryFolder();
  const reading = Promise.withResolvers<void>();
  await using service = await startUnread(folder.path, reading.promise);
  const { program } = service;
  for (let n = 0; n < FILLING; n += AT_ONCE) await send(program, AT_ONCE);
  const began = performance.now();
  program.kill("SIGTERM");
  assertEquals(await inTime(program.exitCode, "the exit"), 0);
  assertLess(performance.now() - began, CLOSED_MS);
  reading.resolve();
});

Deno.test("an uncaught error is logged and ends the service", async () => {
  await using folder = await temporaryFolder();
  await using service = await Service.start(folder.path, {
    preload: new URL("uncaught.ts", import.meta.url).href,
  });
  service.program.kill("SIGUSR2");
  const { code, stderr } = await inTime(service.program.ended(), "the end");
  assertEquals(code, 1);
  const [started, uncaught, reason] = stderr.split("\n");
  assertEquals(JSON.parse(started).event, "started");
  assertEquals(JSON.parse(uncaught).event, "uncaught_error");
  assert(JSON.parse(uncaught).error.startsWith("Error: on purpose"), uncaught);
  assertEquals(reason, "error: an uncaught error ended the service");
});
