/** What the client uses of saxes; its own types do not compile by themselves. */
export class SaxesParser {
  /** Characters read so far. */
  readonly position: number;
  on(event: "error", handler: (error: Error) => void): void;
  on(event: "text" | "cdata", handler: (text: string) => void): void;
  on(
    event: "opentag",
    handler: (
      tag: { name: string; attributes: Record<string, string> },
    ) => void,
  ): void;
  on(
    event: "closetag",
    handler: (tag: { isSelfClosing: boolean }) => void,
  ): void;
  write(text: string): this;
  close(): this;
}
