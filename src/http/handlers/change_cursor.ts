/** The cursor of lists of changes. */
import type { ChangeCursor, ChangePlace } from "../../database/change_feed.ts";
import { type Cursor, cursor, ID, number } from "../server/cursor.ts";

const CHANGE = cursor<ChangePlace>({
  change: number(/-1|\d{1,16}/y),
  id: ID,
});

/**
 * The cursor of a list of changes: the place; then, if servers were unreachable, their
 * place and their numbers.
 */
export const CHANGE_CURSOR: Cursor<ChangeCursor> = {
  write: ({ lacks, ...place }) =>
    lacks === undefined ? CHANGE.write(place) : [
      CHANGE.write(place),
      CHANGE.write(lacks.since),
      ...lacks.servers,
    ].join("~"),
  parse: (text) => {
    const [behind, from, ...servers] = text.split("~");
    const place = CHANGE.parse(behind);
    if (from === undefined || place === null) return place;
    const since = CHANGE.parse(from);
    const isOfServers = servers.every((id) => /^\d{1,9}$/.test(id));
    if (since === null || !isOfServers) return null;
    return { ...place, lacks: { servers: servers.map(Number), since } };
  },
};
