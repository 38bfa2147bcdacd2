/** The ten scenarios: their prompts in the handbook, and their judges. */
import { chapter } from "../support/handbook.ts";
import { eventsByCursor, ordersByWebhook } from "./event_judges.ts";
import { copyOfAllProducts, decisionsAndOrders } from "./operator_judges.ts";
import {
  firstUpload,
  largeImport,
  partlyWrong,
  picturesFromDisk,
  saleAndItsEnd,
  salesOfATill,
  type Scenario,
} from "./seller_judges.ts";

/** In the order of the chapter. */
export const SCENARIOS: readonly Scenario[] = [
  firstUpload,
  partlyWrong,
  salesOfATill,
  ordersByWebhook,
  eventsByCursor,
  largeImport,
  picturesFromDisk,
  saleAndItsEnd,
  copyOfAllProducts,
  decisionsAndOrders,
];

export interface Task {
  title: string;
  /** As an agent gets it. */
  prompt: string;
  /** How many criteria the chapter lists. */
  criteria: number;
}

/** The tasks of the chapter, in order. */
export function tasks(): Task[] {
  const sections = chapter("agent-evaluation").split(/^## \d+\. /m).slice(1);
  return sections.map((section) => {
    const lines = section.split("\n");
    const quoted = lines.filter((line) => line.startsWith("> "));
    return {
      title: lines[0],
      prompt: quoted.map((line) => line.slice(2)).join("\n"),
      criteria: lines.filter((line) => line.startsWith("- ")).length,
    };
  });
}
