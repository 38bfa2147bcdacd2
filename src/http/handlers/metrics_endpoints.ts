/** `GET /metrics`; its key is checked before. */
import type { Handler } from "../server/context.ts";

export const getMetrics: Handler = async ({ services }) => {
  const { text, type } = await services.metrics.text();
  return { body: text, headers: { "Content-Type": type } };
};
