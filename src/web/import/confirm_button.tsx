/** A button that confirms products, so that the page sends them. */
import type { Client } from "../../client/mod.ts";
import { plural } from "../lib/format.ts";
import { confirmSkus } from "./send/upload.ts";

export function ConfirmButton({ client, skus, adds, disabled = false }: {
  client: Client;
  skus: readonly string[];
  /** Whether the products are new. */
  adds: boolean;
  disabled?: boolean;
}) {
  const verb = adds ? "add" : "change";
  return (
    <button
      type="button"
      disabled={disabled}
      onClick={() => confirmSkus(client, skus)}
    >
      {skus.length === 1
        ? `It is correct: ${verb} ${skus[0]}`
        : `All are correct: ${verb} ${plural(skus.length, "product")}`}
    </button>
  );
}
