/**
 * Sends each route its largest inputs, 1, 20 and 110 at once, and measures the
 * delay for another seller and for `/healthz`.
 */
import { quantile } from "../bench/table.ts";
import { temporaryFolder } from "../support/process.ts";
import { OPERATOR, Service } from "../processes/service.ts";
import { starvedMs, starvedMsOf } from "../support/starvation.ts";
import { type Input, ROUTE_INPUTS } from "./route_inputs.ts";
import type { Order, Statuses } from "./route_worker.ts";
import { prepareStage, type Stage } from "./stage.ts";
import { pause } from "../support/clock.ts";

const AT_ONCE = [1, 20, 110];
/** The time limit of the neighbour's requests and of `/healthz`. */
const MOST_MS = 100;
/**
 * If they are slow even without other requests: the limit as a multiple of that
 * time.
 */
const TIMES = 2;
/** The pause between two requests of the neighbour. */
const PAUSE_MS = 5;
/** For how long the neighbour works alone, before and after. */
const ALONE_MS = 300;

interface Delays {
  /** The longest time of `/healthz`, in milliseconds. */
  health: number;
  /** The 99th percentile of the neighbour's times. */
  put: number;
  /** The longest time in which the event loop let nothing else run. */
  block: number;
}

interface Trial {
  stage: Stage;
  /** The id of the service's process. */
  pid: number;
  /** The file that `blocks.ts` writes. */
  blocks: string;
}

/**
 * Tries the routes whose names contain one of these texts; all if there are
 * none.
 */
export async function tryRoutes(wanted: readonly string[]): Promise<number> {
  await using folder = await temporaryFolder();
  await using service = await Service.start(folder.path, {
    sellers: ["good", "bad"],
    env: { SELLER_LOG: "error", SELLER_METRICS_KEY: OPERATOR },
    preload: new URL("./blocks.ts", import.meta.url).pathname,
  });
  const { pid } = service.program;
  const stage = await prepareStage(service);
  const crowd = new Worker(new URL("./route_worker.ts", import.meta.url), {
    type: "module",
  });
  let bad = 0;
  let n = 0;
  const names = Object.keys(ROUTE_INPUTS).filter((name) =>
    wanted.length === 0 || wanted.some((part) => name.includes(part))
  );
  const trial: Trial = { stage, pid, blocks: `${service.folder}/blocks` };
  const alone = await measured(trial, () => Promise.resolve());
  console.log(`nobody: ${told(alone)}`);
  const areLong = ({ health, put, block }: Delays) =>
    health > Math.max(MOST_MS, TIMES * alone.health) ||
    put > Math.max(MOST_MS, TIMES * alone.put) || block > MOST_MS;
  for (const name of names) {
    for (const input of ROUTE_INPUTS[name]) {
      for (const count of AT_ONCE) {
        let statuses: Statuses = {};
        let ms = 0;
        const attempt = async () => {
          const orders = Array.from(
            { length: count },
            () => orderOf(stage, name, input, n++),
          );
          const begun = performance.now();
          const delays = await measured(trial, async () => {
            statuses = await sent(crowd, orders);
          });
          ms = performance.now() - begun - 2 * ALONE_MS;
          return delays;
        };
        let delays = await attempt();
        // Another program may have used the core.
        if (areLong(delays)) delays = await attempt();
        const isBad = areLong(delays);
        if (isBad) bad++;
        console.log(
          `${name} (${input.what}) x${count}: ${ms.toFixed(0)} ms, ` +
            `${told(delays)}, ${JSON.stringify(statuses)}` +
            (isBad ? "  PROBLEM" : ""),
        );
      }
    }
  }
  crowd.terminate();
  return bad;
}

function told({ health, put, block }: Delays): string {
  return `/healthz ${health.toFixed(0)}, PUT ${put.toFixed(0)}, ` +
    `longest block ${block} ms`;
}

function orderOf(stage: Stage, name: string, input: Input, n: number): Order {
  const { path, body, accept } = input;
  const target = path(stage, n);
  const key = target.startsWith("/operator_api") ? OPERATOR : stage.keys.bad;
  return {
    url: stage.url + target,
    method: name.split(" ")[0],
    headers: {
      "X-Service-Auth": key,
      "Authorization": `Bearer ${OPERATOR}`,
      ...(body !== undefined && { "Content-Type": "text/xml" }),
      ...(accept !== undefined && { Accept: accept }),
    },
    body: body?.(stage, n),
  };
}

function sent(crowd: Worker, orders: readonly Order[]): Promise<Statuses> {
  return new Promise((resolve, reject) => {
    crowd.onmessage = ({ data }) => resolve(data);
    crowd.onerror = (event) => reject(new Error(event.message));
    crowd.postMessage(orders);
  });
}

/**
 * Milliseconds, without those in which the service or this thread waited for a
 * processor. Time in which both waited is subtracted twice, so on a very busy
 * machine only the longest block is reliable.
 */
function netNow(pid: number): number {
  return performance.now() - starvedMs(pid) - starvedMsOf("/proc/thread-self");
}

/** How long `/healthz` and a neighbour's small writes take meanwhile. */
async function measured(
  { stage: { url, keys }, pid, blocks }: Trial,
  work: () => Promise<void>,
): Promise<Delays> {
  let isOver = false;
  const again = async (request: (n: number) => Promise<Response>) => {
    const times: number[] = [];
    for (let n = 0; !isOver; n++) {
      const begun = netNow(pid);
      await (await request(n)).body?.cancel();
      times.push(Math.max(0, netNow(pid) - begun));
      await pause(PAUSE_MS);
    }
    return times;
  };
  const headers = { "X-Service-Auth": keys.good };
  const path = `${url}/seller_api/products/own-0/attribute/quantity`;
  await Deno.writeTextFile(blocks, "");
  const both = Promise.all([
    again(() => fetch(`${url}/healthz`)),
    again((n) => fetch(`${path}/${n % 900}`, { method: "PUT", headers })),
  ]);
  await pause(ALONE_MS);
  await work();
  await pause(ALONE_MS);
  isOver = true;
  const [health, put] = await both;
  const lines = (await Deno.readTextFile(blocks)).split("\n");
  return {
    health: Math.max(...health),
    put: quantile(put, 0.99),
    block: Math.max(...lines.map(Number)),
  };
}
