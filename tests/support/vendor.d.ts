// The npm releases of the standard library and of @libs/xml have no types.
// These are the types of what only tests use, from their documentation:
// https://jsr.io/@std and https://jsr.io/@libs/xml.

declare module "@std/assert" {
  export class AssertionError extends Error {}
  export function assert(expr: unknown, msg?: string): asserts expr;
  export function assertFalse(expr: unknown, msg?: string): void;
  export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
  export function assertNotEquals<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertMatch(
    actual: string,
    expected: RegExp,
    msg?: string,
  ): void;
  export function assertNotMatch(
    actual: string,
    expected: RegExp,
    msg?: string,
  ): void;
  export function assertStringIncludes(
    actual: string,
    expected: string,
    msg?: string,
  ): void;
  export function assertGreater<T>(actual: T, expected: T, msg?: string): void;
  export function assertGreaterOrEqual<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertLess<T>(actual: T, expected: T, msg?: string): void;
  export function assertLessOrEqual<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertThrows<E extends Error = Error>(
    fn: () => unknown,
    errorClass?: abstract new (...args: never[]) => E,
    msgIncludes?: string,
    msg?: string,
  ): E;
  export function assertRejects<E extends Error = Error>(
    fn: () => PromiseLike<unknown>,
    errorClass?: abstract new (...args: never[]) => E,
    msgIncludes?: string,
    msg?: string,
  ): Promise<E>;
  export function fail(msg?: string): never;
}

declare module "@std/data-structures/binary-heap" {
  /** The top is the value that the comparison orders first. */
  export class BinaryHeap<T> {
    constructor(compare?: (a: T, b: T) => number);
    push(...values: T[]): number;
    pop(): T | undefined;
  }
}

declare module "@std/semver" {
  export interface SemVer {
    major: number;
    minor: number;
    patch: number;
  }
  /** Throws a `TypeError` for an invalid version. */
  export function parse(version: string): SemVer;
  export function compare(a: SemVer, b: SemVer): number;
}

declare module "@libs/xml/stringify" {
  export interface StringifyOptions {
    format?: { indent?: string; breakline?: number };
    replace?: {
      entities?: boolean;
      custom?: (node: {
        name: string;
        key: string | null;
        value: string | null;
        node: unknown;
      }) => string | undefined;
    };
  }
  export function stringify(
    document: Record<string, unknown>,
    options?: StringifyOptions,
  ): string;
}
