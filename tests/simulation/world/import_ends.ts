/**
 * Each import that ends causes one event; a dry run that is stored causes two.
 */
import { sometimes } from "../../support/sometimes.ts";
import type { Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";

interface Ended {
  seller_no: number;
  id: string;
  state: string;
  dry_run: number;
}

/** An event `import_finished`. */
interface Told {
  seller_no: number;
  reference: string;
  text: string;
}

export function checkImportEnds({ stage, world }: Scene): void {
  // What is old is deleted; where work has a price, imports are copies.
  if (world.jumps || world.isPriced) return;
  const reported = Map.groupBy(
    stage.rows<Told>(
      `SELECT seller_no, reference, CAST(body AS TEXT) AS text FROM events
       WHERE trigger_name = 'import_finished'`,
    ),
    ({ seller_no, reference }) => `${seller_no} ${reference}`,
  );
  const twice = [...reported.values()].filter(({ length }) => length > 1);
  hold(twice.length === 0, "true", "no end of an import is told twice", twice);
  // Excludes imports that are arriving or being deleted.
  const imports = stage.rows<Ended>(
    "SELECT seller_no, id, state, dry_run FROM imports WHERE over_at > 0",
  );
  for (const one of imports) {
    const [first] = reported.get(`${one.seller_no} ${one.id}`) ?? [];
    const [stored] = reported.get(`${one.seller_no} ${one.id}-stored`) ?? [];
    const seen = { import: one, first, stored };
    hold(first !== undefined, "true", "the end of an import is told", seen);
    const isStored = isDry(first) && one.dry_run === 0;
    hold(
      (stored !== undefined) === isStored,
      "true",
      "an import ends again if it is a dry run that is stored",
      seen,
    );
    hold(
      statusIn(stored ?? first).startsWith(one.state) &&
        isDry(stored ?? first) === (one.dry_run === 1),
      "true",
      "the event of an import tells how it has ended",
      seen,
    );
    sometimes("the end of an import told");
    if (isStored) sometimes("the end of a stored dry run told");
  }
}

/** The service's own data are JSON; a delivery in XML has the same content. */
function statusIn({ text }: Told): string {
  return /"status":"(\w+)"/.exec(text)?.[1] ?? "";
}

function isDry({ text }: Told): boolean {
  return text.includes('"dry_run":true');
}
