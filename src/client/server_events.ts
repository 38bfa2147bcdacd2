/**
 * Reads server-sent events from a body: `EventSource` cannot send a key.
 */
import { LimitError, type Limits } from "./limits.ts";

export interface ServerEvent {
  /** Empty where the service only shows that the stream goes on. */
  name: string;
  data: string;
}

/** The events in their order. */
export async function* serverEvents(
  body: ReadableStream<Uint8Array>,
  { eventLength }: Limits,
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true }))
        .split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) yield eventOf(block);
      if (rest.length > eventLength) {
        throw new LimitError(
          `The stream has an event of more than ${eventLength} characters.`,
        );
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function eventOf(block: string): ServerEvent {
  const field = (name: string) =>
    block.split("\n").filter((line) => line.startsWith(`${name}: `))
      .map((line) => line.slice(name.length + 2)).join("\n");
  return { name: field("event"), data: field("data") };
}
