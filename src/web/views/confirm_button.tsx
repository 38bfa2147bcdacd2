/** Lets a product be replaced that was held back. */
import type { Client } from "../../client/mod.ts";
import { confirmSku } from "../upload.ts";

export function ConfirmButton({ client, sku, disabled = false }: {
  client: Client;
  sku: string;
  disabled?: boolean;
}) {
  return (
    <button
      type="button"
      disabled={disabled}
      onClick={() => confirmSku(client, sku)}
    >
      It is meant: change {sku}
    </button>
  );
}
