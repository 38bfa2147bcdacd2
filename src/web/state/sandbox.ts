/**
 * The public keys and sample documents that a sandbox gives its page. A real
 * service never does so.
 */

export interface Sandbox {
  sellerKey: string;
  operatorKey: string;
  samples: { name: string; label: string; xml: string }[];
  mailUrl: string;
}

/** null: this is no sandbox. */
export const sandbox: Sandbox | null = read();

function read(): Sandbox | null {
  const meta = document.querySelector<HTMLMetaElement>("meta[name=sandbox]");
  return meta === null ? null : JSON.parse(meta.content);
}
