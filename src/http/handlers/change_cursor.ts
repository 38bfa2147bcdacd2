/** The cursor of lists of changes. */
import type { ChangeCursor, ChangePlace } from "../../database/change_feed.ts";
import {
  type Cursor,
  cursor,
  ID_FIELD,
  numberField,
} from "../server/cursor.ts";

const CHANGE = cursor<ChangePlace>({
  change: numberField(/-1|\d{1,16}/y),
  id: ID_FIELD,
});

/**
 * The cursor of a list of changes: a place. If servers were unreachable, also
 * the place from which their changes may be missing, and the numbers of the
 * servers.
 */
export const CHANGE_CURSOR: Cursor<ChangeCursor> = {
  write: ({ lacks, ...place }) =>
    lacks === undefined ? CHANGE.write(place) : [
      CHANGE.write(place),
      CHANGE.write(lacks.since),
      ...lacks.servers,
    ].join("~"),
  parse: (text) => {
    const [placeText, sinceText, ...servers] = text.split("~");
    const place = CHANGE.parse(placeText);
    if (sinceText === undefined || place === null) return place;
    const since = CHANGE.parse(sinceText);
    const areNumbers = servers.every((id) => /^\d{1,9}$/.test(id));
    if (since === null || !areNumbers) return null;
    return { ...place, lacks: { servers: servers.map(Number), since } };
  },
};
