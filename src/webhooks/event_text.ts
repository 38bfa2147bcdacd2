import type { Trigger } from "./trigger.ts";

/** The body of a delivery in XML; `data` is inserted unchanged. */
export function eventXml(
  { id, trigger, created_at, test, data }: {
    id: string;
    trigger: Trigger;
    /** ISO 8601, UTC. */
    created_at: string;
    test?: boolean;
    data: string;
  },
): string {
  return `<event${test ? ' test="true"' : ""}><id>${id}</id>` +
    `<trigger>${trigger}</trigger><created_at>${created_at}</created_at>` +
    `<data>${data}</data></event>`;
}
