/** The commands for operators' keys and for the audit log. */
import { COMMAND_LINE, listChanges } from "../monitoring/audit.ts";
import {
  addOperatorKey,
  listOperatorKeys,
  revokeOperatorKey,
} from "../sellers/operator_keys.ts";
import {
  AUDIT_SELLER_FILTER,
  ENTRIES_SINCE,
  ENTRIES_UNTIL,
  WHO_FILTER,
} from "../http/server/parameters.ts";
import { isoTime } from "../xml/encode.ts";
import { type Command, flag, line } from "./command.ts";
import { allRows, databaseCommand } from "./database.ts";
import {
  keyRightsFlags,
  keyRightsTexts,
  keyState,
  periodFlags,
  readParameters,
} from "./flags.ts";
import { readKeyTexts } from "../sellers/wanted_key.ts";

/** Entries that are read at a time. */
const PAGE = 250;

export const operatorCommands: readonly Command[] = [
  databaseCommand({
    name: "operator-key add",
    summary: "create a key of the operator API; prints it once",
    arguments: [{ name: "NAME" }],
    flags: [
      { name: "read-only", meaning: "the key may only read" },
      ...keyRightsFlags,
    ],
    run: async ({ db, deps, arguments: [name], flags, print }) => {
      const { rights: { expiresAt = null, networks = [] } } = readKeyTexts(
        keyRightsTexts(flags),
        deps.clock.now(),
      );
      const readOnly = flags["read-only"] !== undefined;
      const key = await addOperatorKey({ db, deps }, {
        who: COMMAND_LINE,
        name,
        readOnly,
        expiresAt,
        networks,
      });
      print(`operator_key: ${key}`);
    },
  }),
  databaseCommand({
    name: "operator-key list",
    summary:
      "list the keys with a name: creation, rights, state, networks, name",
    run: async ({ db, deps: { clock }, print }) => {
      for (const key of await db.read(listOperatorKeys)) {
        const rights = key.readOnly ? "read-only" : "full";
        const from = key.networks.join(" ") || "everywhere";
        const state = keyState(key, clock.now());
        print(line(isoTime(key.createdAt), rights, state, from, key.name));
      }
    },
  }),
  databaseCommand({
    name: "operator-key revoke",
    summary: "revoke a key; a running service refuses it within a second",
    arguments: [{ name: "NAME" }],
    run: async ({ db, deps, arguments: [name], print }) => {
      await revokeOperatorKey({ db, deps }, { who: COMMAND_LINE, name });
      print(`revoked: ${name}`);
    },
  }),
  databaseCommand({
    name: "audit list",
    summary: "list the changes by operators, newest first: time, who, what",
    flags: [
      flag(
        "who",
        "NAME",
        "only changes by this operator key, or by another entry of the list",
      ),
      flag(
        "seller",
        "NAME",
        "only changes that concern the seller with this name at that time",
      ),
      ...periodFlags,
    ],
    run: async ({ db, flags, print, printError }) => {
      const filter = readParameters(flags, {
        who: WHO_FILTER,
        seller: AUDIT_SELLER_FILTER,
        since: ENTRIES_SINCE,
        until: ENTRIES_UNTIL,
      });
      let count = 0;
      const readPage = (after: string | null) =>
        db.read((sql) => listChanges(sql, filter, { after, limit: PAGE }));
      for await (const entry of allRows(readPage)) {
        const { at, who, action, seller, detail } = entry;
        print(
          line(isoTime(at), who, ...[action, seller, detail].filter(Boolean)),
        );
        count++;
      }
      if (count === 0) printError("no such entry");
    },
  }),
];
