/**
 * The judge finds each kind of wrong history, and nothing in right ones. The
 * histories are small and written by hand: a client's name, the time from its
 * request to its answer, and what it was about.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { Random } from "../support/random.ts";
import type { Answer, Fields, Gone, Input, Line, Shown } from "./history.ts";
import { exitCodeOf, judge } from "./judge.ts";

const SKU = "s1-g0-0";
const OTHER = "s1-g0-1";
const FIRST: Fields = { title: "t1", price: "1", quantity: 10, mpn: null };

function product(fields: Partial<Fields> = {}, sku = SKU, id = `id-${sku}`) {
  return { id, sku, ...FIRST, ...fields };
}

/** A history whose operations begin and end one after the other. */
class Story {
  readonly lines: Line[] = [];
  #n = 0;
  #time = 0;

  invoke(input: Input, client = "a"): number {
    const n = ++this.#n;
    const { f } = input;
    const isOfGroup = !["repeat", "list", "feed", "event", "events", "delivery"]
      .includes(f);
    const group = isOfGroup ? "s1-g0" : undefined;
    const at = ++this.#time;
    this.lines.push(
      { type: "invoke", at, n, client, seller: "s1", group, input },
    );
    return n;
  }

  end(n: number, answer: Partial<Answer> = {}): this {
    const { status = 200 } = answer;
    const type = status < 300 ? "ok" : "fail";
    const at = ++this.#time;
    this.lines.push({ type, at, n, answer: { status, ...answer } });
    return this;
  }

  lose(n: number): this {
    this.lines.push({ type: "info", at: ++this.#time, n, reason: "lost" });
    return this;
  }

  did(input: Input, answer: Partial<Answer> = {}, client = "a"): this {
    return this.end(this.invoke(input, client), answer);
  }

  upload(sku = SKU, fields: Partial<Fields> = FIRST): this {
    const entries = [{ sku, ...fields }];
    const transaction = `t${this.#n + 1}`;
    return this.did({ f: "upload", entries }, { transaction });
  }

  put(value: string, status = 204): this {
    return this.did({ f: "put", sku: SKU, field: "title", value }, { status });
  }

  read(fields: Partial<Fields> | null, sku = SKU): this {
    const shown = fields === null ? null : product(fields, sku);
    return this.did({ f: "read", sku }, { product: shown });
  }

  feed(after: string | null, next: string | null, ...all: (Shown | Gone)[]) {
    return this.did({ f: "feed", after }, { products: all, next }, "feed");
  }

  list(...products: Shown[]): this {
    const input = { f: "list", kind: "all", walk: this.#n } as const;
    return this.did(input, { products, next: null }, "list");
  }

  event(reference: string, id: string): this {
    return this.did({ f: "event", reference }, { id });
  }

  events(...pairs: [reference: string, id: string][]): this {
    const events = pairs.map(([reference, id]) => ({ reference, id }));
    const input = { f: "events", after: null } as const;
    return this.did(input, { events, next: "n" }, "events");
  }

  delivery(reference: string, id: string, status = 200): this {
    return this.did({ f: "delivery", reference, id, status });
  }

  get findings(): string[] {
    const { findings, undecided } = judge(this.lines);
    return [...findings, ...undecided];
  }
}

const story = () => new Story();
const difference: Input = { f: "difference", sku: SKU, change: -2 };

const WRONG: Record<string, [Story, string]> = {
  "a lost update": [story().upload().put("t2").read({}), "operation 3"],
  "a stale read after an acknowledged change": [
    story().upload().put("t2").read({ title: "t2" }).put("t3")
      .read({ title: "t2" }),
    "operation 5",
  ],
  "two differences of which one is lost": [
    story().upload().did(difference).did(difference).read({ quantity: 8 }),
    "operation 4",
  ],
  "a difference applied twice": [
    story().upload().did(difference).read({ quantity: 6 }),
    "operation 3",
  ],
  "an effect of a refused request": [
    story().upload().did({ f: "difference", sku: SKU, change: -20 }, {
      status: 422,
    }).read({ quantity: 0 }),
    "operation 3",
  ],
  "a change although the value was another one": [
    story().upload().did({
      ...{ f: "put", sku: SKU, field: "quantity", value: 5, expected: 9 },
    }),
    "operation 2",
  ],
  "half an upload": [
    story().did({
      f: "upload",
      entries: [{ sku: SKU, ...FIRST }, { sku: OTHER, ...FIRST }],
    }).read({}).read(null, OTHER),
    "operation 3",
  ],
  "an upload of unknown outcome that is stored in part": (() => {
    const one = story();
    one.lose(one.invoke({
      f: "upload",
      entries: [{ sku: SKU, ...FIRST }, { sku: OTHER, ...FIRST }],
    }));
    return [one.read({}).read(null, OTHER), "operation 3"];
  })(),
  "an outcome that is taken back": (() => {
    const one = story().upload();
    one.lose(
      one.invoke({ f: "put", sku: SKU, field: "title", value: "t2" }),
    );
    return [one.read({ title: "t2" }).read({}), "operation 4"];
  })(),
  "a repeated key that acts twice": [
    story().upload().did(difference).did({ f: "repeat", of: 2 }, {
      replayed: true,
    }).read({ quantity: 6 }),
    "operation 4",
  ],
  "a repeated key that is answered as something new": [
    story().upload().did({ f: "repeat", of: 1 }, {
      transaction: "t9",
      replayed: true,
    }),
    "another transaction",
  ],
  "a repetition that is not known as one": [
    story().upload().did({ f: "repeat", of: 1 }, { transaction: "t1" }),
    "not answered as a repetition",
  ],
  "a repetition that is refused after the request was executed": [
    story().upload().did({ f: "repeat", of: 1 }, { status: 422 }),
    "operation 1 was repeated by 2 and refused",
  ],
  "an undo that restores something else": [
    story().upload().upload(SKU, { price: "2", quantity: 20 })
      .did({ f: "undo", of: 2 }).read({ price: "1", quantity: 20 }),
    "operation 4",
  ],
  "an undo that takes a later change back": [
    story().upload().upload(SKU, { title: "t2", price: "2" }).put("t3")
      .did({ f: "undo", of: 2 }),
    "operation 4",
  ],
  "an undo that leaves what its upload created": [
    story().upload().did({ f: "undo", of: 1 }).read({}),
    "operation 3",
  ],
  "an undo that is refused for no reason": [
    story().upload().upload(SKU, { price: "2" }).put("t2")
      .did({ f: "undo", of: 2 }, { status: 422 }),
    "operation 4",
  ],
  "two undos of one upload": [
    story().upload().did({ f: "undo", of: 1 }).did({ f: "undo", of: 1 }),
    "operation 3",
  ],
  "a deleted product that is shown": [
    story().upload().did({ f: "delete", sku: SKU }).read({}),
    "operation 3",
  ],
  "an id that changes": [
    story().upload().read({}).did({ f: "read", sku: SKU }, {
      product: product({}, SKU, "new"),
    }),
    "operation 3",
  ],
  "a list without a product": [story().upload().list(), "operation 2"],
  "a product twice in a list": [
    story().upload().list(product(), product()),
    "twice",
  ],
  "a gap in the feed": [
    story().upload().upload(OTHER).feed(null, "1", product())
      .list(product(), product({}, OTHER)),
    "feed has null",
  ],
  "a change that the feed never shows": [
    story().upload().feed(null, "1", product()).did(difference)
      .did({ f: "difference", sku: SKU, change: 2 }).feed("1", null)
      .list(product()),
    "never received the change 3",
  ],
  "an old version in the feed": [
    story().upload().put("t2").feed(null, "1", product()),
    "operation 3",
  ],
  "a feed out of order": [
    story().upload().upload(OTHER, { ...FIRST, title: "o" })
      .feed(null, "1", product({ title: "o" }, OTHER), product())
      .list(product(), product({ title: "o" }, OTHER)),
    `received ${SKU}`,
  ],
  "a change twice in the feed": [
    story().upload().feed(null, "1", product()).feed("1", "2", product())
      .list(product()),
    "unchanged",
  ],
  "a deleted product that the feed keeps": [
    story().upload().feed(null, "1", product())
      .did({ f: "delete", sku: SKU }).feed("1", null).list(),
    "still has",
  ],
  "a cursor that jumps": [
    story().upload().feed(null, "1", product()).feed("7", null)
      .list(product()),
    "after 7",
  ],
  "an event under two ids": [
    story().event("e1", "x").events(["e1", "y"]).delivery("e1", "x"),
    "another id",
  ],
  "a delivery under another id": [
    story().event("e1", "x").delivery("e1", "x").delivery("e1", "y"),
    "another id",
  ],
  "an event that is listed twice": [
    story().event("e1", "x").events(["e1", "x"], ["e1", "x"])
      .delivery("e1", "x"),
    "twice",
  ],
  "an event that is not listed": [
    story().event("e1", "x").events().delivery("e1", "x"),
    "never read",
  ],
  "events in another order": [
    story().event("e1", "x").event("e2", "y").events(["e2", "y"], ["e1", "x"])
      .delivery("e1", "x").delivery("e2", "y"),
    "sent later",
  ],
  "an event whose delivery was only refused": [
    story().event("e1", "x").delivery("e1", "x", 500),
    "never delivered",
  ],
  "an event that nobody sent": [story().delivery("e1", "x"), "nobody"],
};

for (const [name, [wrong, part]] of Object.entries(WRONG)) {
  Deno.test(`the judge finds ${name}`, () => {
    const { findings } = wrong;
    assertEquals(findings.length > 0, true, "nothing found");
    assertStringIncludes(findings.join("\n"), part);
  });
}

const lost = (input: Input, then: (one: Story, n: number) => Story) => {
  const one = story().upload();
  const n = one.invoke(input);
  one.lose(n);
  return then(one, n);
};
const put: Input = { f: "put", sku: SKU, field: "title", value: "t2" };

const RIGHT: Record<string, Story> = {
  "an unknown change that is never made": lost(put, (one) => one.read({})),
  "an unknown change that is made at once": lost(
    put,
    (one) => one.read({ title: "t2" }),
  ),
  "an unknown change that is made late": lost(
    put,
    (one) => one.read({}).put("t3").read({ title: "t2" }),
  ),
  "a change that is made after its repetition was refused": lost(
    { ...difference, change: -20 },
    (one, n) => one.end(n, { status: 422 }).read({}),
  ),
  "a lost request that is answered when it is repeated": lost(
    difference,
    (one, n) => one.read({ quantity: 8 }).end(n).read({ quantity: 8 }),
  ),
  "the same request at two processes, of which one is refused": (() => {
    const one = story().upload();
    const n = one.invoke({ ...put, expected: "t1" } as Input);
    one.did({ f: "repeat", of: n }, { status: 204 });
    return one.end(n, { status: 412 }).read({ title: "t2" });
  })(),
  "concurrent changes, seen in either order": (() => {
    const one = story().upload();
    const [a, b] = [one.invoke(put), one.invoke({ ...put, value: "t3" })];
    one.end(b).read({ title: "t2" });
    return one.end(a).read({ title: "t2" });
  })(),
  "an undo and its undo": story().upload().upload(SKU, { price: "2" })
    .did({ f: "undo", of: 2 }).read({}).did({ f: "undo", of: 3 })
    .read({ price: "2" }),
  "a product that an undo creates again": story().upload()
    .did({ f: "undo", of: 1 }).read(null).did({ f: "undo", of: 2 })
    .did({ f: "read", sku: SKU }, { product: product({}, SKU, "new") }),
  "an undo that is refused because of a later change": story().upload()
    .upload(SKU, { title: "t2" }).put("t3")
    .did({ f: "undo", of: 2 }, { status: 422 }),
  "a feed with pages, repetitions after changes, and a deletion": story()
    .upload().upload(OTHER).feed(null, "1", product(), product({}, OTHER))
    .put("t2").feed("1", "2", product({ title: "t2" }))
    .did({ f: "delete", sku: OTHER })
    .feed("2", "3", { id: `id-${OTHER}`, sku: OTHER, deleted: true })
    .feed("3", null).list(product({ title: "t2" })),
  "a feed with a deleted product and its successor": story().upload()
    .read({}).did({ f: "delete", sku: SKU }).upload()
    .feed(null, "1", { id: `id-${SKU}`, sku: SKU, deleted: true })
    .feed("1", "2", product({}, SKU, "new")).list(product({}, SKU, "new")),
  "events with a delivery that was repeated": story().event("e1", "x")
    .event("e2", "y").events(["e1", "x"], ["e2", "y"])
    .delivery("e1", "x", 500).delivery("e2", "y").delivery("e1", "x")
    .delivery("e2", "y"),
};

for (const [name, right] of Object.entries(RIGHT)) {
  Deno.test(`the judge accepts ${name}`, () => {
    assertEquals(right.findings, []);
  });
}

Deno.test("the judge accepts a feed that several servers repeat after an outage", () => {
  const other = product({ title: "o" }, OTHER);
  const { lines } = story().upload().upload(OTHER, { ...FIRST, title: "o" })
    .feed(null, "1", product(), other).feed("1", "2", product(), other)
    .list(product(), other);
  assertEquals(judge(lines, { isOneServer: false }).findings, []);
  assertEquals(judge(lines).findings.length > 0, true);
});

Deno.test("the judge imports nothing from outside of its folder", async () => {
  const folder = new URL("./", import.meta.url);
  const seen = new Set<string>();
  const look = async (name: string): Promise<void> => {
    if (seen.has(name)) return;
    seen.add(name);
    const text = await Deno.readTextFile(new URL(name, folder));
    for (const [, imported] of text.matchAll(/from "([^"]+)"/g)) {
      assertEquals(/^\.\/\w+\.ts$/.test(imported), true, imported);
      await look(imported);
    }
  };
  await look("./judge.ts");
  assertEquals(seen.size, 5);
});

/**
 * A service with one lock: its histories are right, and a random one that
 * forgets a write is wrong if somebody reads the product afterwards.
 */
function simulated(random: Random, forgets: boolean): Story {
  const one = story().upload();
  let title = "t1";
  let quantity: number = 10;
  const pending: (() => void)[] = [];
  for (let n = 2; n < 60; n++) {
    const isPut = n !== 40 && random.below(2) === 0;
    const input: Input = isPut
      ? { f: "put", sku: SKU, field: "title", value: `t${n}` }
      : { f: "difference", sku: SKU, change: n };
    const operation = one.invoke(input);
    const isKept = n % 16 > 0;
    if (isKept && !(forgets && n === 40)) {
      if (isPut) title = `t${n}`;
      else quantity += n;
    }
    if (isKept) {
      pending.push(() => void one.end(operation, { status: 204 }));
    } else one.lose(operation);
    while (pending.length > random.below(4)) pending.shift()!();
    if (random.below(3) === 0 || n === 40) one.read({ title, quantity });
  }
  pending.forEach((end) => end());
  return one.read({ title, quantity });
}

Deno.test("the judge accepts histories of a service with one lock", () => {
  const random = new Random(11);
  for (let n = 0; n < 50; n++) {
    assertEquals(simulated(random, false).findings, []);
  }
});

Deno.test("the judge finds a forgotten write among many concurrent ones", () => {
  const random = new Random(12);
  let found = 0;
  for (let n = 0; n < 50; n++) {
    if (simulated(random, true).findings.length > 0) found++;
  }
  assertEquals(found, 50);
});

Deno.test("any number of findings is an exit code other than 0", () => {
  const code = (findings: number) =>
    exitCodeOf({
      findings: Array(findings).fill("one"),
      undecided: [],
      figures: {},
    });
  assertEquals([0, 1, 255, 256, 512].map(code), [0, 1, 1, 1, 1]);
});
