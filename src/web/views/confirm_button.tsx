/** Lets products be replaced that were held back. */
import type { Client } from "../../client/mod.ts";
import { plural } from "../parts.tsx";
import { confirmSkus } from "../upload.ts";

export function ConfirmButton({ client, skus, disabled = false }: {
  client: Client;
  skus: readonly string[];
  disabled?: boolean;
}) {
  return (
    <button
      type="button"
      disabled={disabled}
      onClick={() => confirmSkus(client, skus)}
    >
      {skus.length === 1
        ? `It is meant: change ${skus[0]}`
        : `All are meant: change ${plural(skus.length, "product")}`}
    </button>
  );
}
