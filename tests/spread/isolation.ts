/**
 * A server that is killed, that is paused, and whose answers take 200 ms more,
 * beneath four processes: the sellers of others see no error, their images and
 * deliveries go on, and everything of its own goes on when it is back. Nothing
 * acknowledged is lost, nothing is done twice, and a follower of the feed has
 * everything in the end.
 *
 * `SELLER_SPREAD_SECONDS` is how long each takes; a minute unless told.
 */
import { assert, assertEquals } from "@std/assert";
import { Cluster } from "./cluster.ts";
import { followed } from "./follower.ts";
import { makeStage, SETTLE_MS, type Stage } from "./stage.ts";

const SECONDS = Number(Deno.env.get("SELLER_SPREAD_SECONDS") ?? 60);
const SELLERS = 12;
const cluster = Cluster.given();

interface Trouble {
  begin(node: number, stage: Stage): Promise<void> | void;
  end(node: number, stage: Stage): Promise<void> | void;
  /** Its sellers are refused. */
  refuses: boolean;
}

const troubles = ({ run }: { run: Cluster["run"] }): Record<
  string,
  Trouble
> => ({
  none: { begin: () => {}, end: () => {}, refuses: false },
  killed: {
    begin: async (node) => void await run("kill", `${node}`),
    end: async (node) => void await run("up", `${node}`),
    refuses: true,
  },
  paused: {
    begin: async (node) => void await run("pause", `${node}`),
    end: async (node) => void await run("resume", `${node}`),
    refuses: true,
  },
  slow: {
    begin: (node, { proxies }) => void (proxies.get(node)!.delayMs = 100),
    end: (node, { proxies }) => void (proxies.get(node)!.delayMs = 0),
    refuses: false,
  },
});

if (cluster !== null) {
  const run = cluster.run.bind(cluster);
  for (const [name, trouble] of Object.entries(troubles({ run }))) {
    Deno.test(`one server in trouble holds up its own sellers alone: ${name} (spread)`, async () => {
      await using stack = new AsyncDisposableStack();
      const stage = await makeStage(
        cluster,
        stack,
        `isolation${Date.now()}`,
        SELLERS,
      );
      const { traffic } = stage;
      const sellers = await stage.sellersOf();
      const [node, ...rest] = [...sellers.keys()];
      const lost = sellers.get(node)!;
      const others = rest.flatMap((other) => sellers.get(other)!);
      assert(others.length > 0, "all sellers are on one server");
      await followed(stage, () =>
        traffic.during(async () => {
          await traffic.wentOn();
          traffic.forget();
          const before = traffic.told(others);
          const refusedBefore = traffic.told(lost).refused;
          const arrivedBefore = traffic.arrived(others);
          const fetchedBefore = traffic.fetched(others);
          await trouble.begin(node, stage);
          try {
            await new Promise((done) => setTimeout(done, SECONDS * 1_000));
            await traffic.wentOn(others);
          } finally {
            await trouble.end(node, stage);
          }
          const after = traffic.told(others);
          const own = traffic.told(lost);
          const arrived = traffic.arrived(others) - arrivedBefore;
          const fetched = traffic.fetched(others) - fetchedBefore;
          console.log({
            answered: after.acknowledged - before.acknowledged,
            slowestMs: after.slowestMs,
            laterThanASecond: after.late,
            arrived,
            fetched,
            refusedOfItsOwn: own.refused - refusedBefore,
          });
          assertEquals(
            [after.refused, after.unanswered],
            [before.refused, before.unanswered],
            "sellers of other servers see errors",
          );
          assert(arrived > 0 && fetched > 0, "deliveries and images of others");
          assertEquals(own.refused > refusedBefore, trouble.refuses);
          const since = performance.now();
          await traffic.wentOn();
          console.log(
            "all went on after",
            Math.round(performance.now() - since),
          );
        }, SETTLE_MS));
      console.log(await traffic.figures());
    });
  }
}
