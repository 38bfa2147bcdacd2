/** The background roles: which one works on each queue. */
import type { Role } from "./config.ts";
import { IMAGES } from "./images/image.ts";
import {
  ImageRole,
  type ImageRoleOptions,
  type ImportEnded,
} from "./images/worker/role.ts";
import type { HangingWorkers } from "./images/worker/thread.ts";
import { emitEnd } from "./imports/end.ts";
import { IMPORTS } from "./imports/import.ts";
import { ImportRole } from "./imports/worker/role.ts";
import type { Background } from "./jobs/background.ts";
import type { LeaseQueue } from "./jobs/lease_queue.ts";
import {
  hasLeases,
  type LeasedQueueName,
  QUEUE_NAMES,
  type QueueName,
  QUEUES,
} from "./jobs/queues.ts";
import { type BackgroundRole, RoleKeeper } from "./jobs/role_keeper.ts";
import { NOTICES } from "./notices/notice.ts";
import { NoticeRole } from "./notices/worker/role.ts";
import { SaleRole } from "./catalogue/sale_role.ts";
import { ClockWatch } from "./administration/clock_watch.ts";
import type { Services } from "./services.ts";
import { DELIVERIES } from "./webhooks/webhook.ts";
import { WebhookRole } from "./webhooks/worker/role.ts";

/** What a role may ask about the other processes of the service. */
export interface Peers {
  /** Whether no other process has this role of the settings. */
  isAlone: (role: Role) => boolean;
  /**
   * Whether this process may run the work of a role: it is the one process that
   * does, or all may.
   */
  mayDo: (role: Role) => boolean;
}

export interface RoleOptions {
  /** Options of the image role, for tests. */
  images?: ImageRoleOptions;
}

/** Creates a role with empty memory; called again if the role is stuck. */
type MakeRole = () => BackgroundRole;

interface RoleRow {
  /** Missing if the queue has no leases. */
  queue?: LeaseQueue;
  /**
   * Whether this process works on the queue; by default, if it maintains the
   * queue.
   */
  isWanted?: (services: Services) => boolean;
  begin: (services: Services, peers: Peers, options: RoleOptions) => MakeRole;
}

export const ROLES:
  & Readonly<Record<QueueName, RoleRow>>
  & Readonly<Record<LeasedQueueName, { queue: LeaseQueue }>> = {
    images: {
      queue: IMAGES,
      begin: (services, _, { images }) => {
        const hanging: HangingWorkers = new Set();
        const importEnded: ImportEnded = (tx, key) =>
          emitEnd(tx, services, key);
        return () =>
          new ImageRole(services, importEnded, { hanging, ...images });
      },
    },
    deliveries: {
      queue: DELIVERIES,
      begin: (services, { isAlone }) => {
        const shared = !isAlone("webhooks");
        return () => new WebhookRole(services, { shared });
      },
    },
    // Processes that receive imports also work on them.
    imports: {
      queue: IMPORTS,
      begin: (services, { isAlone }) => {
        const shared = !isAlone("api");
        return () => new ImportRole(services, { shared });
      },
    },
    // Every process sends notices; processes with the role `api` search for them.
    notices: {
      queue: NOTICES,
      isWanted: ({ config, mailer }) =>
        config.noticesUrl !== null || mailer !== null,
      begin: (services, { mayDo }) => {
        const { roles } = services.config;
        const isSearching = () => roles.includes("api") && mayDo("api");
        return () => new NoticeRole(services, { isSearching });
      },
    },
    sales: { begin: (services) => () => new SaleRole(services) },
  };

/** All queues with leases. */
export const LEASE_QUEUES: readonly LeaseQueue[] = QUEUE_NAMES
  .filter(hasLeases).map((name) => ROLES[name].queue);

/** Adds the roles of this process to its background work. */
export function addRoles(
  services: Services,
  background: Background,
  peers: Peers,
  options: RoleOptions,
): void {
  const { roles } = services.config;
  const watch = new ClockWatch(services);
  for (const name of QUEUE_NAMES) {
    const { process } = QUEUES[name];
    const isOurs = roles.includes(process);
    const { queue, begin, isWanted = () => isOurs } = ROLES[name];
    if (!isWanted(services)) continue;
    keepRole(name, services, background, begin(services, peers, options));
    const isMine = () => isOurs && peers.mayDo(process);
    if (queue !== undefined) {
      watch.add(queue, services.signals[name], isMine);
    }
  }
  background.add(watch);
}

function keepRole(
  queue: QueueName,
  { deps, health, holders, metrics }: Services,
  background: Background,
  make: MakeRole,
): void {
  const { role, kind } = QUEUES[queue];
  const keeper = new RoleKeeper({ name: role, deps, make });
  background.add(keeper);
  health.watch(role, () => keeper.trouble());
  metrics.roleReady.watch(() => keeper.trouble() === null ? 1 : 0, role);
  holders.add(queue, keeper);
  metrics.inProgress.watch(() => keeper.inUse().in_flight, kind);
  metrics.queueMoved.watch(
    () => keeper.lastProgressAt === null ? null : keeper.lastProgressAt / 1_000,
    queue,
  );
}
