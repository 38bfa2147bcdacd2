/** Cursors of lists: the content of `<next>`, sent back as `after`. */
import { readId } from "../../lib/ids.ts";

/** Converts between a place in a list and its text. */
export interface Cursor<T> {
  write(place: T): string;
  /** null if the text is not a valid cursor. */
  parse(text: string): T | null;
}

/** A field of a cursor. */
export interface CursorField<V> {
  /** The pattern of the field's text, with the flag `y`. */
  pattern: RegExp;
  /** null if the text matches the pattern but is no valid value. */
  read(text: string): V | null;
}

/** A number whose text matches this pattern, which has the flag `y`. */
export function numberField(pattern: RegExp): CursorField<number> {
  return { pattern, read: Number };
}

export const ID_FIELD: CursorField<string> = {
  pattern: /[0-9a-f-]{36}/y,
  read: readId,
};

/** The cursor of a place with these fields, in this order: `FIELD-FIELD`. */
export function cursor<T extends Record<keyof T, string | number>>(
  fields: { readonly [K in keyof T]: CursorField<T[K]> },
): Cursor<T> {
  const names = Object.keys(fields) as (keyof T)[];
  return {
    write: (place) => names.map((name) => place[name]).join("-"),
    parse: (text) => {
      const place: Partial<T> = {};
      let at = 0;
      for (const [n, name] of names.entries()) {
        if (n > 0 && text[at++] !== "-") return null;
        const { pattern, read } = fields[name];
        pattern.lastIndex = at;
        const match = pattern.exec(text)?.[0];
        const value = match === undefined ? null : read(match);
        if (value === null) return null;
        place[name] = value;
        at += match!.length;
      }
      return at === text.length ? place as T : null;
    },
  };
}

/** The cursor of a list whose places have one field. */
export function fieldCursor<V extends string | number>(
  field: CursorField<V>,
): Cursor<V> {
  const { write, parse } = cursor<{ field: V }>({ field });
  return {
    write: (value) => write({ field: value }),
    parse: (text) => parse(text)?.field ?? null,
  };
}

export const ID_CURSOR: Cursor<string> = { write: (id) => id, parse: readId };

const BASE64URL = { alphabet: "base64url", omitPadding: true } as const;

/**
 * The cursor of places that may contain any text: their JSON in base64url, which
 * needs no escaping in a URL.
 */
export function jsonCursor<T>(
  { toJson, fromJson }: {
    toJson(place: T): unknown;
    /** Null if the value is not a place. */
    fromJson(value: unknown): T | null;
  },
): Cursor<T> {
  return {
    write: (place) =>
      new TextEncoder().encode(JSON.stringify(toJson(place)))
        .toBase64(BASE64URL),
    parse: (text) => {
      try {
        const bytes = Uint8Array.fromBase64(text, BASE64URL);
        return fromJson(JSON.parse(new TextDecoder().decode(bytes)));
      } catch {
        return null;
      }
    },
  };
}
