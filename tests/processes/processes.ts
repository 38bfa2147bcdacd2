/**
 * The driver of real processes: starts, kills, pauses and restarts processes of
 * the program on one database, and hands out their addresses in turn. With
 * `traffic.ts`, `faults.ts` and `inspect.ts` it is all that tests with real
 * processes need.
 */
import type { Role } from "../../src/config.ts";
import { OPERATOR, Service, type ServiceOptions } from "./service.ts";
import type { Store } from "./store.ts";

export interface ProcessesOptions extends ServiceOptions {
  /** One process for each role; by default one with all roles. */
  roles?: readonly Role[];
}

export class Processes implements AsyncDisposable {
  readonly store: Store;
  /** The sellers' keys, by name. */
  readonly keys: ReadonlyMap<string, string>;
  /** Each may be killed and restarted on its own. */
  readonly services: readonly Service[];
  #stack = new AsyncDisposableStack();
  #turn = 0;

  private constructor(
    store: Store,
    keys: ReadonlyMap<string, string>,
    services: readonly Service[],
  ) {
    this.store = store;
    this.keys = keys;
    this.services = services;
  }

  /**
   * Adds sellers to the database, and starts the processes; they close the
   * store.
   */
  static async start(
    store: Store,
    { roles, sellers = ["acme"], ...options }: ProcessesOptions = {},
  ): Promise<Processes> {
    await using stack = new AsyncDisposableStack();
    stack.use(store);
    const keys = await store.addSellers(sellers);
    const settings = roles?.map((role) => ({ SELLER_ROLES: role })) ?? [{}];
    const services = settings.map((own, n) =>
      new Service(store.folder(n), keys, {
        ...options,
        env: { SELLER_RATE_LIMIT: "0", ...store.env, ...own, ...options.env },
      })
    );
    const processes = new Processes(store, keys, services);
    stack.defer(() => processes.killAll());
    await processes.startDead();
    processes.#stack = stack.move();
    return processes;
  }

  /**
   * The URL for the next request, in turn like a load balancer; null if there
   * is none.
   */
  nextUrl(): string | null {
    const urls = this.#urls();
    return urls.length === 0 ? null : urls[this.#turn++ % urls.length];
  }

  #urls(): string[] {
    return this.services.map(({ running }) => running?.url ?? "")
      .filter((url) => url !== "");
  }

  /** Starts every dead process; resolves when all are ready. */
  async startDead(): Promise<void> {
    const dead = this.services.filter(({ running }) => running === null);
    await Promise.all(dead.map((service) => this.#start(service)));
  }

  /** Like a supervisor: restarts a process that could not start. */
  async #start(service: Service): Promise<void> {
    for (let tries = 1;; tries++) {
      try {
        return await service.start();
      } catch (error) {
        if (tries === this.store.starts) throw error;
      }
    }
  }

  async killAll(): Promise<void> {
    await Promise.all(this.services.map((service) => service.kill()));
  }

  /** How processes ended that were not killed or stopped. */
  get suicides(): string[] {
    return this.services.flatMap(({ suicides }) => suicides);
  }

  /** The metrics of each process that serves them. */
  async metrics(): Promise<string[]> {
    const headers = { authorization: `Bearer ${OPERATOR}` };
    return await Promise.all(
      this.#urls().map(async (url) => {
        const response = await fetch(`${url}/metrics`, { headers });
        return await response.text();
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack[Symbol.asyncDispose]();
  }
}
