/**
 * Reads server-sent events from the body of a response. The client cannot use
 * `EventSource`, which sends no key.
 */
import { createParser, type ParseError } from "eventsource-parser";
import { LimitError, type Limits } from "./limits.ts";

export interface ServerEvent {
  /** Empty for a comment, by which the service shows that the stream is open. */
  name: string;
  data: string;
}

/** Yields the events of a body. */
export async function* serverEvents(
  body: ReadableStream<Uint8Array>,
  { eventLength }: Limits,
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const events: ServerEvent[] = [];
  const parser = createParser({
    maxBufferSize: eventLength,
    onEvent: ({ event = "", data }) => events.push({ name: event, data }),
    onComment: () => events.push({ name: "", data: "" }),
    onError: ({ type }: ParseError) => {
      if (type !== "max-buffer-size-exceeded") return;
      throw new LimitError(
        `The stream has an event of more than ${eventLength} characters.`,
      );
    },
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
