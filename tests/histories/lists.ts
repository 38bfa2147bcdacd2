/**
 * What the handbook promises of lists that clients follow with a cursor: the
 * operator's feed, a seller's products, and events with their deliveries.
 */
import type { Operation, Shown } from "./history.ts";
import type { GroupCall } from "./model.ts";

export function groupOf(sku: string): string {
  return sku.replace(/-\d+$/, "");
}

/** Every write of products, by SKU, in the order of invocation. */
export type Writes = ReadonlyMap<string, readonly Operation[]>;

export function writesOf(operations: readonly Operation[]): Writes {
  const found = new Map<string, Operation[]>();
  const byNumber = new Map(operations.map((one) => [one.n, one]));
  for (const operation of operations) {
    if (operation.outcome === "fail") continue;
    for (const sku of skusOf(operation, byNumber)) {
      const all = found.get(sku);
      if (all === undefined) found.set(sku, [operation]);
      else all.push(operation);
    }
  }
  return found;
}

/** The products that a write may change. */
export function skusOf(
  { input }: Operation,
  byNumber: ReadonlyMap<number, Operation>,
): string[] {
  if (input.f === "undo") return skusOf(byNumber.get(input.of)!, byNumber);
  if ("entries" in input) return input.entries.map(({ sku }) => sku);
  return "sku" in input && input.f !== "read" ? [input.sku] : [];
}

/** What a client has of the products that it follows, by id. */
class Copy {
  readonly products = new Map<string, Shown>();
  /** The last page that showed an id, or a SKU. */
  readonly last = new Map<string, Operation>();

  take(page: Operation): void {
    for (const entry of page.answer!.products!) {
      if ("deleted" in entry) this.products.delete(entry.id);
      else this.products.set(entry.id, entry);
      this.last.set(entry.id, page).set(entry.sku, page);
    }
  }

  /** Differences from the products that exist in the end. */
  compared(who: string, expected: readonly Shown[]): string[] {
    const wrong: string[] = [];
    const ids = new Set(expected.map(({ id }) => id));
    for (const product of expected) {
      const copied = JSON.stringify(this.products.get(product.id) ?? null);
      const shown = JSON.stringify(product);
      if (copied !== shown) wrong.push(`${who} has ${copied}, not ${shown}`);
    }
    for (const { id, sku } of this.products.values()) {
      if (!ids.has(id)) wrong.push(`${who} still has ${sku}, id ${id}`);
    }
    return wrong;
  }
}

/** The pages of each client, in the order of time. */
function pagesOf(
  operations: readonly Operation[],
  f: "feed" | "list" | "events",
): Map<string, Operation[]> {
  const pages = operations.filter(({ input, outcome }) =>
    input.f === f && outcome === "ok"
  );
  return Map.groupBy(pages, ({ client }) => client);
}

/** What each page shows of each product, as calls on its group. */
export function shownBy(page: Operation): GroupCall[] {
  const { n, invoked, ended, answer } = page;
  return answer!.products!.map((shows) => ({
    ...{ n, invoked, ended, does: { shows } },
  }));
}

/**
 * A walk through all products shows each of them: those that it does not show
 * were missing at a moment of the walk.
 */
export function missingFrom(
  operations: readonly Operation[],
  writes: Writes,
): GroupCall[] {
  const calls: GroupCall[] = [];
  for (const pages of wholeWalks(operations)) {
    const [first, last] = [pages[0], pages.at(-1)!];
    const shown = new Set(pages.flatMap(skusShown));
    for (const [sku, [{ seller, invoked }]] of writes) {
      if (seller !== first.seller || shown.has(sku)) continue;
      if (invoked > last.ended) continue;
      const shows = { sku, missing: true } as const;
      const { n } = first;
      const during = { invoked: first.invoked, ended: last.ended };
      calls.push({ n, ...during, does: { shows } });
    }
  }
  return calls;
}

function skusShown({ answer }: Operation): string[] {
  return answer!.products!.map(({ sku }) => sku);
}

/** The complete lists of all products of a seller. */
function wholeWalks(operations: readonly Operation[]): Operation[][] {
  return [...pagesOf(operations, "list").values()].flatMap((pages) => {
    const all = pages.filter(({ input }) =>
      input.f === "list" && input.kind === "all"
    );
    const walks = Map.groupBy(
      all,
      ({ input }) => input.f === "list" ? input.walk : 0,
    );
    return [...walks.values()].filter((walk) =>
      walk.at(-1)!.answer!.next === null
    );
  });
}

/** No product is listed twice by a walk. */
function listedTwice(operations: readonly Operation[]): string[] {
  return wholeWalks(operations).flatMap((pages) => {
    const ids = pages.flatMap(({ answer }) =>
      answer!.products!.map(({ id }) => id)
    );
    return twiceIn(ids).map((id) =>
      `${pages[0].client} found the product ${id} twice in one walk`
    );
  });
}

function twiceIn(all: readonly string[]): string[] {
  const seen = new Set<string>();
  return all.filter((one) => seen.size === seen.add(one).size);
}

/** All products at the end, as the last complete list of each seller has them. */
function productsInTheEnd(operations: readonly Operation[]): Shown[] {
  const bySeller = new Map<string, Operation[]>();
  for (const walk of wholeWalks(operations)) {
    const former = bySeller.get(walk[0].seller);
    const isLater = (former?.[0].invoked ?? -1) < walk[0].invoked;
    if (isLater) bySeller.set(walk[0].seller, walk);
  }
  return [...bySeller.values()].flat().flatMap(({ answer }) =>
    answer!.products!.filter((one) => !("deleted" in one)) as Shown[]
  );
}

/**
 * @param isOneServer whether one server has all sellers: then the feed shows
 * changes in one order, and each of them once.
 */
export function judgeCopies(
  operations: readonly Operation[],
  writes: Writes,
  isOneServer: boolean,
): string[] {
  const wrong = [...listedTwice(operations), ...brokenCursors(operations)];
  const expected = productsInTheEnd(operations);
  const sellerOf = new Map(
    [...writes].map(([sku, [{ seller }]]) => [sku, seller]),
  );
  for (const f of ["feed", "list"] as const) {
    const follows = ({ input }: Operation) =>
      input.f !== "list" || input.kind !== "all";
    const followed = operations.filter(follows);
    for (const [client, pages] of pagesOf(followed, f)) {
      const copy = new Copy();
      for (const page of pages) {
        if (f === "feed" && isOneServer) {
          wrong.push(...repeated(client, copy, page, writes));
        }
        copy.take(page);
      }
      const [{ seller }] = pages;
      const own = f === "feed"
        ? expected
        : expected.filter(({ sku }) => sellerOf.get(sku) === seller);
      wrong.push(...copy.compared(client, own));
      if (f === "feed") {
        wrong.push(...gapsIn(client, copy, writes));
        wrong.push(...disorderIn(client, pages, writes, isOneServer));
      }
    }
  }
  return wrong;
}

/** Products that a page shows again although nothing can have changed them. */
function repeated(
  client: string,
  { last }: Copy,
  page: Operation,
  writes: Writes,
): string[] {
  return page.answer!.products!.flatMap(({ id, sku }) => {
    const before = last.get(id);
    if (before === undefined) return [];
    const isChanged = (writes.get(sku) ?? []).some(({ invoked, ended }) =>
      ended > before.invoked && invoked < page.ended
    );
    return isChanged
      ? []
      : [`${client} received ${sku} by ${before.n} and ${page.n}, unchanged`];
  });
}

/** Acknowledged changes after which the feed does not show the product. */
function gapsIn(client: string, { last }: Copy, writes: Writes): string[] {
  return [...writes].flatMap(([sku, all]) => {
    const shown = last.get(sku)?.ended ?? -1;
    return all.filter((one) =>
      one.outcome === "ok" && changesSurely(one) && one.invoked > shown
    ).map(({ n }) => `${client} never received the change ${n} of ${sku}`);
  });
}

/** Whether a write that was not refused changes its product in any state. */
function changesSurely({ input }: Operation): boolean {
  if (input.f === "delete") return true;
  return input.f === "difference" && input.change !== 0;
}

/**
 * Products that a follower receives in another order than that of their
 * changes: one whose last change had ended before another one began must come
 * first.
 */
function disorderIn(
  client: string,
  pages: readonly Operation[],
  writes: Writes,
  isOneServer: boolean,
): string[] {
  const wrong: string[] = [];
  /** The latest begin of a change that an entry before surely shows. */
  const newest = new Map<string, { at: number; sku: string }>();
  const writers = writersOf(writes);
  const received = new Map<string, string>();
  for (const page of pages) {
    for (const entry of page.answer!.products!) {
      const content = JSON.stringify(entry);
      const isRepeated = received.get(entry.id) === content;
      received.set(entry.id, content);
      // After a server was unreachable, the feed repeats some products.
      if (isRepeated && !isOneServer) continue;
      const { sku } = entry;
      const all = writes.get(sku) ?? [];
      const scope = isOneServer ? "" : all[0]?.seller ?? "";
      const until = Math.max(
        ...all.filter(({ invoked }) => invoked < page.ended)
          .map(({ ended }) => ended),
      );
      const before = newest.get(scope);
      if (before !== undefined && until < before.at) {
        wrong.push(
          `${client} received ${sku} by ${page.n} after ${before.sku}, ` +
            "which was changed later",
        );
      }
      if ("deleted" in entry) continue;
      const writer = writers.get(`${sku} ${entry.title}`);
      if (writer !== undefined && writer.invoked > (before?.at ?? -1)) {
        newest.set(scope, { at: writer.invoked, sku });
      }
    }
  }
  return wrong;
}

/** The only write that gives a product this title, by SKU and title. */
function writersOf(writes: Writes): Map<string, Operation> {
  const found = new Map<string, Operation>();
  for (const [sku, all] of writes) {
    for (const operation of all) {
      const { input } = operation;
      const title = input.f === "put" && input.field === "title"
        ? input.value
        : "entries" in input
        ? input.entries.find((one) => one.sku === sku)?.title
        : undefined;
      if (title !== undefined) found.set(`${sku} ${title}`, operation);
    }
  }
  return found;
}

/** Pages of the feed and of events that do not begin where the last one ended. */
function brokenCursors(operations: readonly Operation[]): string[] {
  return (["feed", "events"] as const).flatMap((f) =>
    [...pagesOf(operations, f)].flatMap(([client, pages]) => {
      let next: string | null = null;
      return pages.flatMap(({ n, input, answer }) => {
        const after = "after" in input ? input.after : null;
        const isWrong = after !== next;
        next = answer!.next ?? after;
        return isWrong ? [`${client} read page ${n} after ${after}`] : [];
      });
    })
  );
}

/** Every event once in the seller's list, in order, and under one id. */
export function judgeEvents(operations: readonly Operation[]): string[] {
  const wrong: string[] = [];
  const sent = new Map<string, Operation>();
  for (const operation of operations) {
    if (operation.input.f !== "event") continue;
    sent.set(operation.input.reference, operation);
  }
  const idOf = new Map<string, string>();
  const isOther = (reference: string, id: string) => {
    const known = idOf.get(reference);
    if (known === undefined) idOf.set(reference, id);
    return known !== undefined && known !== id;
  };
  for (const [reference, { outcome, answer }] of sent) {
    if (outcome === "ok") isOther(reference, answer!.id!);
  }
  for (const [client, pages] of pagesOf(operations, "events")) {
    const seen: string[] = [];
    let newest = { at: -1, reference: "" };
    for (const { n, answer } of pages) {
      for (const { id, reference } of answer!.events!) {
        if (isOther(reference, id)) {
          wrong.push(`${client} read ${reference} under another id by ${n}`);
        }
        seen.push(reference);
        const event = sent.get(reference);
        if (event === undefined) {
          wrong.push(`${client} read ${reference}, which nobody sent`);
          continue;
        }
        if (event.ended < newest.at) {
          wrong.push(
            `${client} read ${reference} after ${newest.reference}, which ` +
              "was sent later",
          );
        }
        if (event.invoked > newest.at) {
          newest = { at: event.invoked, reference };
        }
      }
    }
    const once = new Set(seen);
    for (const one of twiceIn(seen)) wrong.push(`${client} read ${one} twice`);
    for (const [reference, { seller, outcome }] of sent) {
      if (seller !== pages[0].seller || outcome !== "ok") continue;
      if (!once.has(reference)) wrong.push(`${client} never read ${reference}`);
    }
  }
  return [...wrong, ...judgeDeliveries(operations, sent, isOther)];
}

function judgeDeliveries(
  operations: readonly Operation[],
  sent: ReadonlyMap<string, Operation>,
  isOther: (reference: string, id: string) => boolean,
): string[] {
  const wrong: string[] = [];
  const accepted = new Set<string>();
  for (const { input } of operations) {
    if (input.f !== "delivery") continue;
    const { reference, id, status } = input;
    if (isOther(reference, id)) {
      wrong.push(`${reference} was delivered under another id, ${id}`);
    }
    if (!sent.has(reference)) {
      wrong.push(`${reference} was delivered, and nobody sent it`);
    }
    if (status === 200) accepted.add(reference);
  }
  for (const [reference, { outcome }] of sent) {
    if (outcome !== "ok" || accepted.has(reference)) continue;
    wrong.push(`${reference} was never delivered`);
  }
  return wrong;
}
