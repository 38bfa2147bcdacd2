/** The settings of an image worker. */
import type { Config } from "../../config.ts";
import { imageStoreSettings } from "../storage/open.ts";
import type { ImageWorkerSettings } from "./messages.ts";

/** How long a host may take to begin its answer. */
const ANSWER_MS = 10_000;

/**
 * The settings that all image workers share; each one's marks are added later.
 */
export function workerSettings(
  config: Config,
  { answerMs = ANSWER_MS }: { answerMs?: number } = {},
): Omit<ImageWorkerSettings, "diskFlag" | "jobMark"> {
  const { imageLimit, allowPrivate } = config;
  return {
    store: imageStoreSettings(config),
    imageLimit,
    allowPrivate,
    answerMs,
  };
}
