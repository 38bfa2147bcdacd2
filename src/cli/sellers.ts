/** The commands for sellers, their limits, refusals and keys. */
import { listKeys } from "../sellers/key_rows.ts";
import { SCOPES } from "../sellers/scopes.ts";
import { readKeyTexts } from "../sellers/wanted_key.ts";
import { quotaUnit, SELLER_QUOTAS } from "../sellers/limits.ts";
import { listSellers, sellerByName } from "../sellers/seller_rows.ts";
import { listQuotaUses, type QuotaUse } from "../sellers/usage_rows.ts";
import { countRowsOfSeller } from "../administration/removal.ts";
import { COMMAND_LINE } from "../monitoring/audit.ts";
import {
  changeSeller,
  createKey,
  createSeller,
  removeSeller,
  revokeSellerKey,
  SELLER_ATTRIBUTE_WORDS,
} from "../administration/sellers.ts";
import {
  KEPT_REFUSAL_DAYS,
  keptRefusals,
  type ListedRefusal,
  listRefusals,
} from "../sellers/refusals.ts";
import {
  ENTRIES_SINCE,
  ENTRIES_UNTIL,
  MISSING_AT_MOST,
  REFUSAL_CODE_FILTER,
  ROUTE_FILTER,
  SKU_OR_REQUEST_FILTER,
} from "../http/server/parameters.ts";
import { nearestPath } from "../http/server/nearest_path.ts";
import { nearestName } from "../lib/nearest_name.ts";
import { isoTime } from "../xml/encode.ts";
import { readId } from "../lib/ids.ts";
import { parseList } from "../lib/setting_values.ts";
import { quote } from "../lib/values.ts";
import { type Command, flag, line, UsageError } from "./command.ts";
import { hasDatabase } from "../database/open.ts";
import { allRows, databaseCommand, withDatabase } from "./database.ts";
import {
  dataFlag,
  keyRightsFlags,
  keyRightsTexts,
  keyState,
  periodFlags,
  readParameters,
} from "./flags.ts";

/** The quotas of a seller whose usage is `percent` or more. */
function nearQuotas(
  { uses, importBytes }: { uses: readonly QuotaUse[]; importBytes: number },
  percent: number,
): string[] {
  return uses
    .filter(({ used, limit }) => used > 0 && used * 100 >= percent * limit)
    .map(({ quota, used, limit }) => {
      const unit = quotaUnit(quota);
      const counted = unit === quota ? unit : `${unit} of ${quota}`;
      const documents = quota === SELLER_QUOTAS.image_quota.of &&
          importBytes > 0
        ? `, ${importBytes} of them for documents of imports`
        : "";
      return `${used} of ${limit} ${counted}${documents}`;
    });
}

/** The number of refusals that are read at a time. */
const PAGE_ROWS = 100;

export const sellerCommands: readonly Command[] = [
  {
    name: "seller add",
    summary: "create a seller; prints its first key and webhook secret once",
    arguments: [{ name: "NAME" }],
    flags: [dataFlag],
    run: ({ config, deps, arguments: [name], print, printError }) => {
      const isNew = config.databaseUrl === null && !hasDatabase(config.dataDir);
      return withDatabase(config, async (db) => {
        const change = { who: COMMAND_LINE, name };
        const added = await createSeller({ db, deps }, change);
        if (isNew) printError(`new database: ${config.dataDir}`);
        print(`key_id: ${added.keyId}`);
        print(`api_key: ${added.apiKey}`);
        print(`webhook_secret: ${added.webhookSecret}`);
      }, { create: true });
    },
  },
  databaseCommand({
    name: "seller list",
    summary: "list the sellers: id, creation, valid keys, status, name",
    flags: [
      flag(
        "quota",
        "PERCENT",
        "only those who use this percentage of a quota or more: " +
          "name, use, limit",
      ),
    ],
    run: async ({ config, db, deps: { clock }, flags, print }) => {
      const { quota: percent } = readParameters(flags, {
        quota: MISSING_AT_MOST,
      });
      if (percent !== null) {
        for (
          const { seller, ...own } of await db.read((sql) =>
            listQuotaUses(sql, config)
          )
        ) {
          const near = nearQuotas(own, percent);
          if (near.length > 0) print(line(seller, ...near));
        }
        return;
      }
      const sellers = await db.read((sql) => listSellers(sql, clock.now()));
      for (const seller of sellers) {
        const keys = `${seller.keys} ${seller.keys === 1 ? "key" : "keys"}`;
        print(
          line(
            seller.id,
            isoTime(seller.createdAt),
            keys,
            seller.status,
            seller.name,
          ),
        );
      }
    },
  }),
  databaseCommand({
    name: "seller set",
    summary:
      `change a seller: ATTRIBUTE is ${SELLER_ATTRIBUTE_WORDS.join(", ")}; ` +
      'an empty VALUE ("") sets the default, or for price_jump no limit',
    arguments: [{ name: "NAME" }, { name: "ATTRIBUTE" }, { name: "VALUE" }],
    run: async ({ db, deps, arguments: [seller, attribute, value], print }) => {
      const change = { who: COMMAND_LINE, seller, attribute, value };
      await changeSeller({ db, deps }, change);
      print(`${attribute}: ${value === "" ? "default" : value}`);
    },
  }),
  databaseCommand({
    name: "seller remove",
    summary: "remove a seller with all its data; cannot be undone",
    arguments: [{ name: "NAME" }],
    flags: [
      {
        name: "yes",
        meaning:
          "remove the seller; without this flag, shows what would be removed",
      },
    ],
    run: async ({ db, deps, arguments: [seller], flags, print }) => {
      if (flags.yes === undefined) {
        const counts = await db.read(async (sql) =>
          countRowsOfSeller(sql, await sellerByName(sql, seller))
        );
        const list = Object.entries(counts).map(([name, n]) => `${n} ${name}`);
        throw new UsageError(
          `This would remove ${quote(seller)} with ${list.join(", ")}. It ` +
            "cannot be undone; add --yes to do it.",
        );
      }
      await removeSeller({ db, deps }, { who: COMMAND_LINE, seller });
      print(`removed: ${seller}`);
    },
  }),
  databaseCommand({
    name: "seller refusals",
    summary: "list the refused requests of a seller, newest first",
    arguments: [{ name: "NAME" }],
    flags: [
      ...periodFlags,
      flag(
        "code",
        "CODE",
        "only those with this code, or with a detail that has it",
      ),
      flag(
        "route",
        "ROUTE",
        "only those of this route, such as POST /seller_api/imports",
      ),
      flag(
        "find",
        "TEXT",
        "only those about this SKU, or with this request id",
      ),
    ],
    run: async ({ db, arguments: [name], flags, print, printError }) => {
      const { find: q, ...wanted } = readParameters(flags, {
        since: ENTRIES_SINCE,
        until: ENTRIES_UNTIL,
        code: REFUSAL_CODE_FILTER,
        route: ROUTE_FILTER,
        find: SKU_OR_REQUEST_FILTER,
      });
      if (wanted.route !== null) await checkRoute(wanted.route);
      const { no: sellerNo } = await db.read((sql) => sellerByName(sql, name));
      const filter = { sellerNo, q, ...wanted };
      let count = 0;
      const readPage = (after: string | null) =>
        db.read((sql) =>
          listRefusals(sql, filter, { after, limit: PAGE_ROWS })
        );
      for await (const refusal of allRows(readPage)) {
        printRefusal(refusal, print);
        count++;
      }
      if (count > 0) return;
      const kept = await db.read((sql) => keptRefusals(sql, sellerNo));
      printError(
        (kept.since === null
          ? `no refused request in the last ${KEPT_REFUSAL_DAYS} days`
          : `no such refusal among those that are kept (${kept.count}, since ` +
            `${isoTime(kept.since)})`) +
          "; failures of the service (5xx) are only in its log, as " +
          "request_refused",
      );
    },
  }),
  databaseCommand({
    name: "key add",
    summary: "create another key of a seller; prints it once",
    arguments: [{ name: "SELLER" }],
    flags: [
      flag("label", "LABEL", "a name for the key"),
      flag("scopes", "SCOPE,…", `some of ${SCOPES.join(", ")}; by default all`),
      ...keyRightsFlags,
    ],
    run: async ({ db, deps, arguments: [seller], flags, print }) => {
      const { label, scopes } = flags;
      const key = readKeyTexts({
        label,
        scopes: scopes === undefined ? undefined : parseList(scopes),
        ...keyRightsTexts(flags),
      }, deps.clock.now());
      const who = COMMAND_LINE;
      const added = await createKey({ db, deps }, { who, seller, key });
      print(`key_id: ${added.keyId}`);
      print(`api_key: ${added.apiKey}`);
    },
  }),
  databaseCommand({
    name: "key list",
    summary:
      "list a seller's keys: id, creation, prefix, last use, state, scopes, " +
      "networks, label",
    arguments: [{ name: "SELLER" }],
    run: async ({ db, deps: { clock }, arguments: [name], print }) => {
      const keys = await db.read(async (sql) =>
        listKeys(sql, (await sellerByName(sql, name)).no)
      );
      for (const key of keys) {
        const used = key.lastUsedAt === null
          ? "never used"
          : `used ${isoTime(key.lastUsedAt)}`;
        const { scopes, networks } = key.rights;
        const label = key.label === null ? [] : [key.label];
        print(
          line(
            key.id,
            isoTime(key.createdAt),
            key.prefix ?? "?",
            used,
            keyState({ ...key, ...key.rights }, clock.now()),
            scopes.join(","),
            networks.join(",") || "everywhere",
            ...label,
          ),
        );
      }
    },
  }),
  databaseCommand({
    name: "key revoke",
    summary: "revoke a key; a running service refuses it within a second",
    arguments: [{ name: "KEY_ID" }],
    run: async ({ db, deps, arguments: [sent], print }) => {
      const keyId = readId(sent) ?? sent;
      await revokeSellerKey({ db, deps }, { who: COMMAND_LINE, keyId });
      print(`revoked: ${keyId}`);
    },
  }),
];

/** Throws unless the interface has this route. */
async function checkRoute(route: string): Promise<void> {
  // Loaded when needed: all handlers would delay the start of every command.
  const { ROUTES } = await import("../http/routes.ts");
  const names = ROUTES.map(({ method, path }) => `${method} ${path}`);
  if (names.includes(route)) return;
  const [method, path] = route.split(" ");
  const near = nearestPath(
    path.split("/").slice(1),
    ROUTES.filter((known) => known.method === method),
    true,
  );
  const nearest = near === null
    ? nearestName(route, names)
    : `${method} ${near}`;
  throw new UsageError(
    `--route is ${quote(route)}, which is no route; did you mean "${nearest}"?`,
  );
}

function printRefusal(
  { at, id, status, code, route, dryRun, message, details, more, ...by }:
    ListedRefusal,
  print: (line: string) => void,
): void {
  const what = `${route ?? "no route"}${dryRun ? " (dry run)" : ""}`;
  print(line(isoTime(at), id, status, code, what));
  const times = by.times > 1 ? `, ${by.times} times within a minute` : "";
  print(`    key ${by.keyId}, from ${by.client}${times}`);
  if (details.length === 0) print(`    ${message}`);
  for (const detail of details) {
    const { product, sku: SKU, line, column, code, message } = detail;
    // Most messages begin with the name of the field.
    const field = message.startsWith(`${detail.field} `)
      ? undefined
      : detail.field;
    const place = Object.entries({ product, SKU, line, column, field })
      .flatMap(([name, value]) =>
        value === undefined ? [] : `${name} ${value}`
      );
    print(`    ${[...place, code].join(", ")}: ${message}`);
  }
  if (more > 0) print(`    and ${more} more`);
}
