/**
 * The public keys and sample documents that a sandbox puts into its page. The
 * page of a real service contains no keys.
 */

import { monotonic } from "../lib/browser.ts";

export interface Sandbox {
  sellerKey: string;
  operatorKey: string;
  samples: { name: string; label: string; xml: string }[];
  mailUrl: string;
}

/** A time in a sample. */
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/**
 * A sample as a file. Its times are moved by the time since the page was loaded,
 * because the service refuses a sale that has ended.
 */
export function sampleFile(
  { name, xml }: Sandbox["samples"][number],
): File {
  const text = xml.replace(
    TIME,
    (time) => new Date(Date.parse(time) + monotonic()).toISOString(),
  );
  return new File([text], name);
}

/** The sandbox of this page; null on the page of a real service. */
export const sandbox: Sandbox | null = read();

function read(): Sandbox | null {
  const meta = document.querySelector<HTMLMetaElement>("meta[name=sandbox]");
  return meta === null ? null : JSON.parse(meta.content);
}
