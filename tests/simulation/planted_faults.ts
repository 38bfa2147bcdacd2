/**
 * Mistakes that are planted in the source, one at a time, to prove that the
 * simulation finds such mistakes. Each replaces texts that occur once in their
 * file; `planted_faults_test.ts` checks that.
 */

import type { QueueName } from "../../src/jobs/queues.ts";

/** Replaces a text that occurs once in its file. */
export interface Edit {
  from: string;
  to: string;
}

export interface PlantedFault extends Edit {
  /** The mistake in a few words. */
  name: string;
  /** From `src/`. */
  file: string;
  /** A second place where the mistake was made. */
  also?: Edit;
}

/** Renews all leases except those of one queue. */
function renewedUnless(queue: QueueName): string {
  return `    if (this.#options.queue.table !== "${queue}") {
      await this.leases.renew();
    }
`;
}

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  // Queues, limits and budgets.
  {
    name:
      "wait list: a permit granted in a pause wakes nobody when the pause ends",
    file: "lib/wait_list.ts",
    from: "this.usage.acquire(ask, this.#freed, inTurn);",
    to: "this.usage.acquire(ask, inTurn ? this.#freed : () => {}, inTurn);",
  },
  {
    name: "wait list: the end of a pause starts nothing",
    file: "lib/wait_list.ts",
    from: `    this.usage.pausing--;
    this.#dispatch();`,
    to: "    this.usage.pausing--;",
  },
  {
    name: "wait list: work that fails keeps its permit",
    file: "lib/wait_list.ts",
    from:
      `    using _permit = this.tryAcquire(ask) ?? await this.waitFor(ask, signal);
    return await work();`,
    to:
      `    const permit = this.tryAcquire(ask) ?? await this.waitFor(ask, signal);
    const done = await work();
    permit[Symbol.dispose]();
    return done;`,
  },
  {
    name: "wait list: a returned permit starts no waiter",
    file: "lib/wait_list.ts",
    from: `    if (pause) void this.#countPause(pause);
    this.#dispatch();`,
    to: "    if (pause) void this.#countPause(pause);",
  },
  {
    name: "wait list: a waiter that left stays in the queue",
    file: "lib/wait_list.ts",
    from: `        this.#remove(waiter);
        reject(signal!.reason);`,
    to: "        reject(signal!.reason);",
  },
  {
    name: "wait list: the last waiter is served first",
    file: "lib/wait_list.ts",
    from: "      for (const [first] of byKey.values()) yield first;",
    to: "      for (const line of byKey.values()) yield line.at(-1)!;",
  },
  {
    name: "usage: returned usage stays counted for its key",
    file: "lib/usage.ts",
    from: "      addAmount(amounts, undefined, amount);",
    to:
      "      if (key === ALL_KEYS || amount > 0) addAmount(amounts, undefined, amount);",
  },
  {
    name: "usage: returned usage stays counted for its owner",
    file: "lib/usage.ts",
    from: "      addAmount(amounts, owner, amount);",
    to: "      if (amount > 0) addAmount(amounts, owner, amount);",
  },
  {
    name: "usage: returned usage is free for one seller only",
    file: "lib/usage.ts",
    from: "      addAmount(amounts, undefined, amount);",
    to:
      "      if (key !== ALL_KEYS || amount > 0) addAmount(amounts, undefined, amount);",
  },
  {
    name: "read quota: an admitted read never returns its permit",
    file: "http/admission/read_limiter.ts",
    from: "    held.untilMade.use(this.#admitted.acquire(owner));",
    to: "    this.#admitted.acquire(owner);",
  },
  {
    name: "body budget: part of a share is not returned",
    file: "http/admission/concurrency_limit.ts",
    from: "    held.use(this.acquire(seller, BODY_COST * bytes));",
    to: `    held.use(this.acquire(seller, bytes));
    this.acquire(seller, (BODY_COST - 1) * bytes);`,
  },
  {
    name: "bodies: a failed body keeps its slot",
    file: "http/server/exchange.ts",
    from: "    if (owner !== null) reading.use(bodies.acquire(owner.id));",
    to: "    const left = owner && bodies.acquire(owner.id);",
    also: {
      from: "    const all = [...blocks];\n",
      to: "    left?.[Symbol.dispose]();\n    const all = [...blocks];\n",
    },
  },
  {
    name: "uploads: a slot is kept when the client disconnects",
    file: "http/server/exchange.ts",
    from: "      untilMade.use(slot);",
    to: `      untilMade.defer(() => {
        if (!this.request.signal.aborted) slot[Symbol.dispose]();
      });`,
  },
  {
    name: "waiting requests: a slot is kept when the client disconnects",
    file: "http/server/exchange.ts",
    from: "    return slot;",
    to: `    const give = () =>
      this.request.signal.aborted || slot[Symbol.dispose]();
    return { [Symbol.dispose]: () => void give() };`,
  },
  {
    name: "rate limit: Retry-After is a second short",
    file: "http/admission/rate_limit.ts",
    from: '"Retry-After": String(state.retryAfter)',
    to: '"Retry-After": String(state.retryAfter - 1)',
  },
  {
    name: "keys: a cached key never expires from the cache",
    file: "http/admission/authentication.ts",
    from: "if (known !== undefined && known.until > now) return",
    to: "if (known !== undefined) return",
  },
  {
    name: "keys: the expiry of a key is not checked",
    file: "sellers/access.ts",
    from: "if (expiresAt !== null && expiresAt <= now) {",
    to: "if (expiresAt !== null && expiresAt <= 0) {",
  },
  {
    name: "keys: the networks of a key are not checked",
    file: "sellers/access.ts",
    from: "return networks === null || networks.has(client)",
    to: 'return networks === null || client !== ""',
  },
  {
    name: "keys: the scope read allows changes",
    file: "sellers/scopes.ts",
    from: 'const reads = method === "GET" || method === "HEAD";',
    to: 'const reads = method !== "";',
  },
  {
    name: "keys: a key creates another key with more rights",
    file: "sellers/key_rights.ts",
    from: "rights.scopes.filter((scope) => !own.scopes.includes(scope))",
    to: "rights.scopes.filter(() => own.scopes.length === 0)",
  },
  {
    name: "keys: a rotated key stays valid",
    file: "sellers/own_keys.ts",
    from: "await endKey(keys.tx, keyId, end);",
    to: "await endKey(keys.tx, key.keyId, end);",
  },
  // Wake-ups, loops, and the end of a process.
  {
    name: "signal: a wake-up between the check and the wait is lost",
    file: "jobs/signals.ts",
    from: "if (abort?.aborted || since !== this.#count) return",
    to: "if (abort?.aborted) return",
  },
  {
    name: "waiting: a change by another process is not noticed",
    file: "http/handlers/waiting.ts",
    from: "signal.wait(services.deps.clock, POLL_MS, {",
    to: "signal.wait(services.deps.clock, 1_000 * POLL_MS, {",
  },
  {
    name: "loop: a failed step ends it",
    file: "jobs/loop.ts",
    from: "        pause = Math.min(AFTER_FAILURE_MS, idleMs);",
    to: "        return;",
  },
  {
    name: "loop: a wake-up does not end its sleep",
    file: "jobs/loop.ts",
    from: "        const nextAt = began + Math.min(ms, idleMs);",
    to: "        const nextAt = began + ms;",
  },
  {
    name: "stop: requests in flight are not awaited",
    file: "http/server/serving.ts",
    from: "    await waitAtMost(deps.clock, DRAIN_MS, answered);",
    to: "    void answered;",
  },
  {
    name: "stop: a waiting read ends as if its client had disconnected",
    file: "http/admission/concurrency_limit.ts",
    from: "    if (reason instanceof ServiceError) throw reason;\n",
    to: "",
  },
  // Attributes of many products.
  {
    name: "attributes: an unknown SKU becomes a new product",
    file: "catalogue/row_plan.ts",
    from: "const find = attributesOnly ? findStored : findTarget;",
    to: "const find = findTarget;",
  },
  {
    name: "attributes: an element that cannot be sent is ignored",
    file: "catalogue/document.ts",
    from: "if (READ_ONLY_ELEMENTS.includes(sent)) {",
    to: "if (READ_ONLY_ELEMENTS.includes(sent) || FIELDS.has(sent)) {",
  },
  // The database.
  {
    name: "sqlite: a write is answered before the commit",
    file: "database/sqlite/engine.ts",
    from: "          settle.push(() => write.resolve(value));\n",
    to: "          write.resolve(value);\n",
  },
  {
    name: "sqlite: a write is answered although the commit failed",
    file: "database/sqlite/engine.ts",
    from: "      for (const write of group) write.reject(error);\n",
    to: "      for (const fn of settle) fn();\n",
  },
  {
    name: "sqlite: a failed write undoes the other writes of its commit",
    file: "database/sqlite/engine.ts",
    from: `    this.#tryRollBack();
    const isRetry = isConflict(error)`,
    to: `    this.#tryRollBack();
    for (const one of group) one.reject(error);
    if (group.includes(write)) return;
    const isRetry = isConflict(error)`,
  },
  {
    name: "sqlite: a failed write keeps its changes",
    file: "database/sqlite/engine.ts",
    from:
      "          if (isUnusable) return await this.#undo(group, write, error);\n",
    to: "",
  },
  {
    name: "sqlite: callbacks of a commit run before the commit",
    file: "database/sqlite/connection.ts",
    from: "    this.afterCommit.push(fn);",
    to: "    queueMicrotask(fn);",
  },
  // Uploads, undo, idempotency.
  {
    name: "idempotency: a key stays in progress after an error",
    file: "catalogue/idempotency.ts",
    from: `    return await work(used);
  } finally {
    keysInProgress.delete(name);
  }`,
    to: `    const done = await work(used);
    keysInProgress.delete(name);
    return done;
  } finally {
    deps.maybe?.("key used");
  }`,
  },
  {
    name: "idempotency: a key is stored in a separate write",
    file: "catalogue/transaction_write.ts",
    from:
      "  if (use !== null) await storeKeyUse(tx, seller.no, { transactionId }, use);",
    to: `  if (use !== null) {
    tx.onCommit(() => void services.db.write((tx) =>
      storeKeyUse(tx, seller.no, { transactionId }, use)));
  }`,
  },
  {
    name: "idempotency: a write does not look for the key",
    file: "catalogue/load.ts",
    from: "    findKeyUse(tx, seller, use),",
    to: "    Promise.resolve(null as FoundKey | null),",
  },
  {
    name: "upload: refused products are stored with the valid ones",
    file: "catalogue/upload_plan.ts",
    from: `    return problems === undefined
      ? plan!`,
    to: `    return plan !== undefined
      ? plan`,
  },
  {
    name: "attribute: a change since the read is lost",
    file: "catalogue/attribute.ts",
    from: `  return await db.of(seller.no).write(async (tx) => {
    const current = await lockGroup(tx, seller.no, skuOrId, group);`,
    to: `  const current = await db.read((sql) =>
    lockGroup(sql as Tx, seller.no, skuOrId, group)
  );
  return await db.of(seller.no).write(async (tx) => {`,
  },
  {
    name: "attribute: the expected value is not checked",
    file: "catalogue/attribute.ts",
    from:
      "    if (read.expected !== null) refuseUnexpected(current, read.expected);",
    to: "",
  },
  {
    name: "upload: an empty value equals any expected value",
    file: "catalogue/expected.ts",
    from: "  if (currentValue === value && hasUnit) return null;",
    to: "  if ((currentValue ?? value) === value && hasUnit) return null;",
  },
  {
    name: "upload: a product with an unexpected value is stored",
    file: "catalogue/row_plan.ts",
    from: "...problems, ...unexpected, ...outOfRange,",
    to: "...problems, ...problems.length > 0 ? unexpected : [], ...outOfRange,",
  },
  {
    name: "complete: products named by id count as missing",
    file: "catalogue/complete.ts",
    from: "if (names.has(id) || names.has(sku)) continue;",
    to: "if (names.has(sku)) continue;",
  },
  {
    name: "complete: a truncated file is accepted",
    file: "catalogue/complete.ts",
    from: "const isWithin = missing * 100 <= atMost * inStock;",
    to: "const isWithin = missing <= inStock;",
  },
  {
    name: "prices: the first change forgets the price before it",
    file: "catalogue/price_changes.ts",
    from: "? `${before.price} ${before.currency}\\n`",
    to: "? `${after.price} ${before.currency}\\n`",
  },
  {
    name: "prices: a product keeps its former price, not the lowest",
    file: "catalogue/price_changes.ts",
    from: "compareDecimals(former.price, price) < 0",
    to: "former.price === price",
  },
  {
    name: "undo: lists are not restored",
    file: "catalogue/undo_record.ts",
    from: "const FIELDS = [...PLACES.values()];",
    to: `const FIELDS = [...PLACES.values()]
  .filter(([place]) => NO_VALUES[place] !== "[]");`,
  },
  {
    name: "undo: the upload is not marked as undone",
    file: "catalogue/undo.ts",
    from: "    undoes: transactionId,",
    to: "    undoes: null,",
  },
  {
    name: "undo: later changes are overwritten",
    file: "catalogue/undo.ts",
    from: "keepChanged ? [] : refusedConflicts(plan);",
    to: "[];",
  },
  {
    name: "quota: a deleted product stays counted",
    file: "catalogue/product_rows.ts",
    from: "  const more = created.length - deleted.length;",
    to: "  const more = created.length;",
  },
  {
    name: "retention: an upload that is not final is deleted",
    file: "database/schema.ts",
    from: `      by: "finished_at",
      where: "import_id IS NULL",`,
    to: `      by: "created_at",`,
  },
  {
    name: "imports: the last part's failed images are not tried again",
    file: "imports/retry.ts",
    from: "  for (const id of transactions) {",
    to: "  for (const id of transactions.slice(0, -1)) {",
  },
  {
    name: "imports: a part is stored after the import was cancelled",
    file: "imports/import_rows.ts",
    from: "WHERE seller_no = ? AND id = ? AND lease_id = ?\n" +
      "     AND state IN ('checking', 'storing') ",
    to: "WHERE seller_no = ? AND id = ?\n" +
      "     AND (lease_id = ? OR state = 'cancelled') ",
    also: {
      from: "const JOB = query(({ lock }) =>\n  `SELECT ${COLUMNS}",
      to:
        "const JOB = query(({ lock }) =>\n  `SELECT ${COLUMNS.replace('state', " +
        "\"CASE state WHEN 'cancelled' THEN 'storing' ELSE state END AS state\")}",
    },
  },
  {
    name: "imports: unchecked products are missing from the results",
    file: "imports/results.ts",
    from:
      "if (checked === null) return Array.from({ length: products }, () => UNREAD);",
    to: "if (checked === null) return [];",
  },
  {
    name: "imports: an undo undoes only the newest part",
    file: "imports/undo.ts",
    from: "const rows = found.filter(({ products }) => products > 0)",
    to: "const rows = found.slice(0, 1).filter(({ products }) => products > 0)",
  },
  {
    name: "json: null is read as the text null",
    file: "json/tokens.ts",
    from:
      `this.scalar(isNull ? "null" : "a boolean", at, isNull ? null : word);`,
    to: `this.scalar(isNull ? "null" : "a boolean", at, word);`,
  },
  {
    name: "imports: a finished import is deleted like a dry run",
    file: "imports/cancel.ts",
    from: "      if (row.dry_run === 0) {",
    to: "      if (row.dry_run === 2) {",
  },
  // The feed of changes.
  {
    name: "feed: a deletion leaves no tombstone",
    file: "catalogue/product_rows.ts",
    from: "    deleted.map(({ place, before: { id, sku } }) => [",
    to: "    deleted.slice(1).map(({ place, before: { id, sku } }) => [",
  },
  {
    name: "feed: a stored image does not move its product",
    file: "images/rows/outcomes.ts",
    from: "      const visible = outcome.sha256 !== row.sha256;",
    to: `      const visible = row.sha256 !== null &&
        outcome.sha256 !== row.sha256;`,
  },
  {
    name: "feed: the cursor is one too far",
    file: "database/change_feed.ts",
    from: "WHERE (change_no, id) > (?, ?) AND change_no < ?",
    to: "WHERE change_no > ? AND id > ? AND change_no < ?",
  },
  {
    name: "feed: two changes in a millisecond have one number",
    file: "database/change_numbers.ts",
    from: "Math.max(last + 1, now * NUMBERS_A_MS)",
    to: "Math.max(last, now * NUMBERS_A_MS)",
  },
  // Images.
  {
    name: "images: leases are not renewed",
    file: "jobs/leased_role.ts",
    from: "    await this.leases.renew();\n",
    to: renewedUnless("images"),
  },
  {
    name: "leases: an expired one is never taken over",
    file: "jobs/held_leases.ts",
    from: "if (clock.monotonic() < this.#searchAt) return [];",
    to: "if (clock.monotonic() > this.#searchAt) return [];",
  },
  {
    name: "images: the death of a worker releases only one job",
    file: "images/worker/role.ts",
    from: `      releaseJob(job);
      if (job.lease === culprit) job.end = { kind: "crashed" };`,
    to: '      if (job.lease === culprit) job.end = { kind: "crashed" };',
  },
  {
    name: "images: a silent worker is not replaced",
    file: "images/worker/thread.ts",
    from:
      "      if (this.#missed > BEAT_LIMIT) return this.#died(this.#silence);\n",
    to: "",
  },
  {
    name: "images: a store that fails costs an attempt",
    file: "images/worker/download.ts",
    from: '  return { kind: "store_unavailable", ...storeFailureOf(error) };',
    to: `  const { cause } = storeFailureOf(error);
  return { kind: "failed", ...UNPROCESSABLE, message: cause, transient: true };`,
  },
  {
    name: "images: a store that has failed once is not tried again",
    file: "images/worker/store_watch.ts",
    from: `      await this.#options.store.probe();
      this.#recovered();`,
    to: "      await this.#options.store.probe();",
  },
  {
    name: "images: attempts have no limit",
    file: "jobs/retry_schedule.ts",
    from: `  const delay = delaysMs[failures - 1];
  if (delay === undefined) return null;
`,
    to: `  const delay = delaysMs[failures - 1] ?? delaysMs.at(-1)!;
`,
  },
  {
    name: "images: there is only one attempt",
    file: "images/rows/outcomes.ts",
    from: 'outcome.kind === "failed" && outcome.transient\n',
    to: 'outcome.kind === "failed" && !outcome.transient\n',
  },
  {
    name: "images: Retry-After of a host is ignored",
    file: "images/worker/role.ts",
    from: "        retryAfter(failure.retryAfter ?? null, at),\n",
    to: "        retryAfter(failure.retryAfter?.[0] ?? null, at),\n",
  },
  {
    name: "images: a stopping process loses what it has downloaded",
    file: "images/worker/role.ts",
    from: `    await this.releaseAll((tx, seller, jobs) =>
      this.#recordEnds(tx, seller, jobs)
    );`,
    to: "    await this.releaseAll();",
  },
  {
    name: "images: the bytes of a copy that is replaced stay counted",
    file: "images/rows/outcomes.ts",
    from: "      ? outcome.bytes - (leased.get(id)!.bytes ?? 0)\n",
    to: "      ? outcome.bytes\n",
  },
  {
    name: "images: the bytes of a copy that is removed stay counted",
    file: "images/rows/copies.ts",
    from: "    await refundCopies(tx, sellerNo, images.map(({ id }) => id));\n",
    to: "",
  },
  {
    name: "images: a job takes every stored copy for missing",
    file: "images/verify.ts",
    from: "new Set(await images.missing(copies.map(imageFile)))",
    to: "new Set(copies.map(imageFile))",
  },
  {
    name: "uploads: the counters are raised twice",
    file: "images/rows/answers.ts",
    from: "    counts[status] += refs;\n",
    to: "    counts[status] += 2 * refs;\n",
  },
  {
    name: "uploads: finished_at is not set",
    file: "images/rows/answers.ts",
    from: "finished_at = CASE WHEN images_pending = ? THEN",
    to: "finished_at = CASE WHEN images_pending < ? THEN",
  },
  {
    name: "uploads: a retry of images leaves them final",
    file: "images/requests.ts",
    from: "images_failed = images_failed - ?, finished_at = NULL",
    to: "images_failed = images_failed - ?",
  },
  // Events and deliveries.
  {
    name: "events: the cursor is one too far",
    file: "webhooks/event_feed.ts",
    from: "AND ${number} > ? AND",
    to: "AND ${number} > ? + 1 AND",
  },
  {
    name: "events: a number is given twice",
    file: "webhooks/event_numbers.ts",
    from: "[[last, sellerNo]]",
    to: "[[last - 1, sellerNo]]",
  },
  {
    name: "events: the same reference makes a second event",
    file: "webhooks/ingest.ts",
    from:
      "    const event = { id: eventId, sellerNo: seller.no, trigger, reference };",
    to: `    const reference = eventId;
    const event = { id: eventId, sellerNo: seller.no, trigger, reference };`,
  },
  {
    name: "deliveries: leases are not renewed",
    file: "jobs/leased_role.ts",
    from: "    await this.leases.renew();\n",
    to: renewedUnless("deliveries"),
  },
  {
    name: "leases: own leases count as those of dead processes",
    file: "jobs/held_leases.ts",
    from: "ended.filter((one) => this.get(one) === undefined);",
    to: "ended.filter((one) => this.get(one) !== undefined);",
  },
  {
    name: "deliveries: 5xx is final",
    file: "webhooks/rows/outcomes.ts",
    from:
      "  if (delay === null) return { transition: TRANSITIONS.exhaust, ...unchanged };",
    to: `  const isFinal = delay === null || (outcome.status ?? 0) >= 500;
  if (isFinal) return { transition: TRANSITIONS.exhaust, ...unchanged };`,
  },
  {
    name: "deliveries: a redirect counts as delivered",
    file: "webhooks/rows/outcomes.ts",
    from: "status !== null && status >= 200 && status < 300;",
    to: "status !== null && status < 400;",
  },
  {
    name: "deliveries: a stop counts as a failure of the endpoint",
    file: "webhooks/worker/attempt.ts",
    from: "error.isOurs ? INTERRUPTED.error",
    to: 'error.isOurs && error.kind !== "aborted" ? INTERRUPTED.error',
  },
  {
    name: "deliveries: Retry-After of an endpoint is ignored",
    file: "webhooks/worker/attempt.ts",
    from: 'retryAfter(answer.headers("retry-after"), clock.now())',
    to: "retryAfter(null, clock.now())",
  },
  {
    name: "deliveries: a webhook's new URL is used only after the next start",
    file: "webhooks/webhook_rows.ts",
    from: "    `UPDATE webhooks SET url = ?, format = ?,",
    to: "    `UPDATE webhooks SET url = COALESCE(url, ?), format = ?,",
  },
  {
    name: "deliveries: those of a suspended seller are sent",
    file: "webhooks/rows/queue.ts",
    from: "WHERE sellers.status = 'active' ${inReach",
    to: "WHERE TRUE ${inReach",
    also: {
      from: "AND webhooks.url = ? AND sellers.status = 'active')",
      to: "AND webhooks.url = ?)",
    },
  },
  {
    name: "imports: leases are not renewed",
    file: "jobs/leased_role.ts",
    from: "    await this.leases.renew();\n",
    to: renewedUnless("imports"),
  },
  {
    name: "notices: leases are not renewed",
    file: "jobs/leased_role.ts",
    from: "    await this.leases.renew();\n",
    to: renewedUnless("notices"),
  },
  {
    name: "notices: a mail that may have been accepted changes",
    file: "notices/rows.ts",
    from:
      '  const keepsId = mayBeSent || outcome === "sent" || outcome === "unsure";',
    to: '  const keepsId = mayBeSent && outcome === "sent";',
  },
  {
    name: "notices: a failed notice is retried without a pause",
    file: "notices/rows.ts",
    from: `outcome === "released"
        ? now
`,
    to: `outcome === "released"
        ? null
`,
  },
  {
    name: "notices: a seller gets more than one mail an hour",
    file: "notices/rows.ts",
    from: "unsure === undefined && own.mailedAt <= now && now < nextAt",
    to: "unsure === undefined && own.mailedAt < 0 && now < nextAt",
    also: {
      from: "WHEN mailed_at + ? > ? THEN mailed_at + ? ELSE ? END,",
      to: "WHEN mailed_at + ? < 0 AND ? < 0 THEN mailed_at + ? ELSE ? END,",
    },
  },
  {
    name: "notices: a sent notice is sent again",
    file: "notices/rows.ts",
    from: '  const isEnd = outcome === "sent" || outcome === "refused";',
    to: '  const isEnd = outcome === "refused";',
  },
  {
    name: "notices: a suspended seller's notices are dropped",
    file: "notices/rows.ts",
    from: "WHERE seller_no = ? AND status <> 'removed' AND email IS NOT NULL",
    to: "WHERE seller_no = ? AND status = 'active' AND email IS NOT NULL",
    also: {
      from: 'row?.status === "suspended"',
      to: 'row?.status === "removed"',
    },
  },
  {
    name: "notices: a notice without a row changes between attempts",
    file: "notices/worker/observed_conditions.ts",
    from: "const notice = this.#known.get(id)?.notice ??",
    to: "const notice = null ??",
  },
  {
    name: "reviews: a decision makes no event",
    file: "reviews/decisions.ts",
    from:
      "      for (const each of own) await emitReviewed(tx, services, each);\n",
    to: "",
  },
  {
    name: "reviews: a decision makes two events",
    file: "reviews/decisions.ts",
    from:
      "      for (const each of own) await emitReviewed(tx, services, each);",
    to:
      "      for (const each of [...own, ...own]) await emitReviewed(tx, services, each);",
  },
  {
    name: "reviews: a decision is not in the operator's feed",
    file: "reviews/decisions.ts",
    from: "SET change_no = ?, review_state",
    to: "SET change_no = CASE WHEN ? > 0 THEN change_no END, review_state",
  },
  {
    name: "reviews: former values are in another order",
    file: "catalogue/review.ts",
    from: `  "gtin",
  "brand",
  "categories",
  "images",
] as const`,
    to: `  "categories",
  "brand",
  "gtin",
  "images",
] as const`,
  },
  {
    name: "metrics: metrics of the disk fail",
    file: "administration/snapshot.ts",
    from: "    metrics.diskFree.set(await deps.disk.free(config.dataDir));\n",
    to: '    throw new Error("on purpose");\n',
  },
  {
    name: "secrets: a former secret no longer signs",
    file: "webhooks/webhook.ts",
    from: "    former: [...signing, [current, now + SECRET_OVERLAP_MS]],",
    to: "    former: [...signing.slice(1), [current, now]],",
  },
  // Between two commits that belong together.
  {
    name: "imports: a stored part is recorded in a second commit",
    file: "imports/store.ts",
    from:
      "    await endStore(tx, services, job, locked, problems, { counts });\n  }, {",
    to:
      `    end = (later) => endStore(later, services, job, locked, problems, { counts });
  }, {`,
    also: {
      from: "heavy: true, changes: true });\n}\n",
      to: `heavy: true, changes: true });
  await db.of(seller.no).write(end);
}
let end = () => Promise.resolve();
`,
    },
  },
  // What commits inside a read, what goes on after a stop, what a removal leaves.
  {
    name: "sqlite: a read sees later commits",
    file: "database/sqlite/engine.ts",
    from: "return options.single ? ask() : this.#snapshot(ask);",
    to: "return ask();",
  },
  {
    name: "stop: a role continues after the stop",
    file: "jobs/leased_role.ts",
    from: "    await this.#loop.stop();\n    if",
    to: "    if",
  },
  {
    name: "removal: a table is forgotten",
    file: "database/schema.ts",
    from: `      about: "1,000 a seller and {age}, at most 4 MiB",
    },
    onSellerRemoval: "rows",`,
    to: `      about: "1,000 a seller and {age}, at most 4 MiB",
    },
    onSellerRemoval: "never",`,
  },
  {
    name: "removal: the files of its images stay",
    file: "administration/removal.ts",
    from: "  images: markUnnamed,\n",
    to: "",
  },
  {
    name: "retention: bodies of events without a delivery stay",
    file: "webhooks/delivery_log.ts",
    from: "delivery_id IS NULL AND body IS NOT NULL AND created_at <= ?",
    to: "delivery_id = '' AND body IS NOT NULL AND created_at <= ?",
  },
  {
    name: "retention: imports whose images are settled stay",
    file: "imports/retention.ts",
    from: "AND (pending > 0 OR settled_at > ?))",
    to: "AND (pending >= 0 OR settled_at > ?))",
  },
  // Several writers of one product, lists that are filtered, keys that end.
  {
    name: "attribute: a difference is added again with its key",
    file: "catalogue/attribute.ts",
    from: "    if (use !== null) await storeKeyUse(tx, seller.no, {}, use);\n",
    to: "",
  },
  {
    name: "events: the requested trigger is ignored",
    file: "webhooks/event_feed.ts",
    from: "const named = trigger === null ? TRIGGERS : [trigger];",
    to: "const named = TRIGGERS;",
  },
  {
    name: "waiting: the expiry of a key is not checked",
    file: "http/handlers/waiting.ts",
    from: "        await checkKey();\n",
    to: "        if (abort.aborted) await checkKey();\n",
  },
  // When something is done.
  {
    name: "maintenance: every process runs it",
    file: "app.ts",
    from: "mayDo: (role) => databaseUrl !== null || locks.take(role),",
    to: "mayDo: () => true,",
  },
  {
    name: "maintenance: a job runs twice as often",
    file: "jobs/periodic_jobs.ts",
    from: "      return everyMs;",
    to: "      return everyMs / 2;",
  },
  {
    name: "imports: a new import wakes no worker",
    file: "imports/receive.ts",
    from: "tx.onCommit(() => signals.imports.announce());",
    to: "tx.onCommit(() => signals.imports);",
  },
  {
    name: "imports: waiting requests do not learn of settled images",
    file: "images/rows/outcomes.ts",
    from: "progressed: new Set([...changed.map(([id]) => id), ...imports]),",
    to: "progressed: new Set(changed.map(([id]) => id)),",
  },
  {
    name: "uploads: waiting requests do not learn of settled images",
    file: "images/rows/outcomes.ts",
    from: "progressed: new Set([...changed.map(([id]) => id), ...imports]),",
    to: "progressed: new Set(imports),",
  },
  {
    name: "events: a new event wakes no waiting request",
    file: "webhooks/ingest.ts",
    from: "      signals.events.announce(seller.id);\n",
    to: "",
  },
  // The price of work.
  {
    name: "imports: each refused product reads all of them",
    file: "imports/spool.ts",
    from: "products[end].end_at <= most) end++;",
    to: "products[end].end_at <= most - bytes) end++;",
    also: {
      from: "AND product BETWEEN ? AND ?\n       AND sent",
      to: "AND ? + ? > 0\n       AND sent",
    },
  },
  {
    name: "imports: a list adds up the transactions of each import",
    file: "imports/import_rows.ts",
    from: "  return rows.map(toRecord);\n}",
    to: `  for (const row of rows) {
    await sql.get(
      \`SELECT SUM(images_stored) FROM import_parts
       JOIN transactions ON transactions.seller_no = import_parts.seller_no
         AND transactions.id = import_parts.transaction_id
       WHERE import_parts.seller_no = ? AND import_parts.import_id = ?\`,
      [sellerNo, row.id],
    );
  }
  return rows.map(toRecord);
}`,
  },
  {
    name: "undo: a dry run is planned in one read",
    file: "catalogue/undo.ts",
    from: "  const { seller } = undone;\n  const read: ReadOnce = (fn) =>",
    to: `  const { seller } = undone;
  const atOnce = (step) => step();
  const inOne = async (sql) => {
    const read = (fn) => fn(sql);
    const draft = await readUndoDraft(read, services, undone, atOnce);
    const named = await inSteps(productsNamedByUndo(draft), atOnce);
    const loaded = await loadInSteps(read, services, { seller, ...named });
    return await plannedUndo(draft, loaded, atOnce);
  };
  if (seller) return await db.of(seller.no).read(inOne);
  const read: ReadOnce = (fn) =>`,
  },
  // Ends of imports, dry runs of undos, narrow worlds, lists that go on.
  {
    name: "imports: an import that waits for images ends twice",
    file: "imports/end.ts",
    from: "  if (!waitsForImages) await emitEnd(tx, services, key);",
    to:
      "  if (!waitsForImages || waitsForImages) await emitEnd(tx, services, key);",
  },
  {
    name: "imports: a cancelled import makes no event",
    file: "imports/end.ts",
    from: "  if (!waitsForImages) await emitEnd(tx, services, key);",
    to:
      `  if (!waitsForImages && state !== "cancelled") await emitEnd(tx, services, key);`,
  },
  {
    name: "undo: a dry run does not report later changes",
    file: "catalogue/undo.ts",
    from: "const details = [...conflicts, ...plan.beyondQuota];",
    to: "const details = [...conflicts.slice(0, 0), ...plan.beyondQuota];",
  },
  {
    name: "prices: the lowest price is taken from any currency",
    file: "catalogue/price_changes.ts",
    from: "if (former.currency === currency) return former.price;",
    to: "if (former.currency !== null || currency) return former.price;",
  },
  {
    name: "prices: a row of changes does not link to the row before",
    file: "catalogue/price_changes.ts",
    from: "former_at: price_row, changes: recent }",
    to: "former_at: null, changes: recent }",
  },
  {
    name: "sales: a search finds no seller whose step has been due for long",
    file: "catalogue/sale_role.ts",
    from: "if (due <= now) this.#due.add(sellerNo);",
    to: "if (due <= now && due > now - 1_500) this.#due.add(sellerNo);",
  },
  {
    name: "sales: a step is not recorded at its planned time",
    file: "catalogue/current_price.ts",
    from: "const at = Math.max(kept.sale_at!, lastChangeAt(kept) + 1);",
    to: "const at = Math.max(kept.sale_at! + 1, lastChangeAt(kept) + 1);",
  },
  {
    name: "sales: a sale that replaces another waits for the former's step",
    file: "catalogue/current_price.ts",
    from: "    : firstStep(after.sale, now);\n  const former",
    to: "    : kept.sale_at ?? firstStep(after.sale, now);\n  const former",
  },
  {
    name: "complete: the result of a search is cached",
    file: "catalogue/complete.ts",
    from: "    if (rows.length < READ_AT_ONCE) return found;\n",
    to: `    if (rows.length < READ_AT_ONCE) {
      const isOld = last === null || last.no !== seller.no ||
        clock.monotonic() - last.at > 500;
      if (isOld) last = { no: seller.no, at: clock.monotonic(), found };
      return { ...last!.found, names };
    }
`,
    also: {
      from: "function namesInDocument(",
      to:
        `let last: { no: number; at: number; found: MissingProducts } | null = null;

function namesInDocument(`,
    },
  },
  {
    name: "removal: rows that belong to no other row stay",
    file: "database/old_rows.ts",
    from: 'some((column) => columns[column] === "id");',
    to: 'some((column) => columns[column] !== "");',
  },
  {
    name: "categories: an old list is used for a while",
    file: "catalogue/category_rows.ts",
    from: "if (missing.length === 0 && kept?.version === version) return kept;",
    to: "if (missing.length === 0) return kept;",
    also: {
      from: "const found = kept?.version === version\n        ? kept",
      to: "const found = kept !== null\n        ? kept",
    },
  },
  {
    name: "streams: the expiry of a key is not checked",
    file: "http/handlers/progress.ts",
    from: "  return pollUntil(\n    exchange,",
    to: `  return pollUntil(
    { services: exchange.services, checkKey: () => Promise.resolve() },`,
  },
  {
    name: "secrets: a webhook's own secret does not sign",
    file: "webhooks/secrets.ts",
    from: "  COALESCE(webhooks.secret, sellers.webhook_secret) AS secret,",
    to: "  sellers.webhook_secret AS secret,",
  },
  {
    name: "events: numbers restart after all events are deleted",
    file: "webhooks/event_numbers.ts",
    from: "(SELECT last_event_no FROM seller_counters WHERE seller_no = ?) +",
    to: `(SELECT COALESCE(MAX(event_no), 0) FROM events
             WHERE seller_no = ? AND event_no > 0 AND body IS NOT NULL) +`,
  },
  {
    name: "events: a reference also finds later ones",
    file: "webhooks/event_feed.ts",
    from: '"AND reference = ?"',
    to: '"AND reference >= ?"',
  },
  {
    name: "products: a GTIN also finds greater ones",
    file: "catalogue/product_lists.ts",
    from: '    "gtin = ?": gtin,\n    "status',
    to: '    "gtin >= ?": gtin,\n    "status',
  },
  // Contacts.
  {
    name: "contacts: a product that is sent again loses its deleted contact",
    file: "catalogue/contact.ts",
    from: "currentContact !== null && contactIn(currentContact).name === name",
    to: 'currentContact !== null && name === ""',
  },
  {
    name: "contacts: a deleted contact can still be named",
    file: "catalogue/contact_rows.ts",
    from: `WHERE seller_no = ? AND deleted_at IS NULL
         AND name IN`,
    to: `WHERE seller_no = ?
         AND name IN`,
  },
  // Sales.
  {
    name: "sales: a step is recorded twenty seconds late",
    file: "catalogue/sale_role.ts",
    from: "          if (due <= now) this.#due.add(sellerNo);",
    to: "          if (due + 20_000 <= now) this.#due.add(sellerNo);",
  },
  {
    name: "sales: the state waits for the record of a step",
    file: "catalogue/sale.ts",
    from:
      `  return next === sale.until || now >= sale.from ? "on" : "planned";`,
    to: `  return next === sale.until ? "on" : "planned";`,
  },
  {
    name: "sales: an undo brings a sale back in another currency",
    file: "catalogue/undo_plan.ts",
    from: "    if (currency === next) return;",
    to: "    if (currency !== undefined) return;",
  },
  {
    name: "sales: a sale that is on gets another currency",
    file: "catalogue/sale.ts",
    from: "current !== null && currency !== current.currency) {",
    to: 'current !== null && currency === "") {',
  },
  // Contacts, and thousands of uploads.
  {
    name: "contacts: a change stays at its former place in the operator's list",
    file: "catalogue/contact_rows.ts",
    from:
      "      `UPDATE contacts SET change_no = ?, updated_at = ?, content = ?",
    to:
      "      `UPDATE contacts SET change_no = MIN(change_no, ?), updated_at = ?, content = ?",
  },
  {
    name: "uploads: a page of the list begins with the end of the former one",
    file: "catalogue/transaction_rows.ts",
    from:
      'const wanted = where({ "seller_no = ?": sellerNo, "id < ?": before });',
    to:
      'const wanted = where({ "seller_no = ?": sellerNo, "id <= ?": before });',
  },
  {
    name: "maintenance: a run ends after its first portion",
    file: "jobs/periodic_jobs.ts",
    from: "  for (let done; (done = await portion()) > 0;) yield done;",
    to: `  const done = await portion();
  if (done > 0) yield done;`,
  },
  // One more for each way in which the simulation was blind.
  {
    name: "reviews: the event of a decision is made in a second commit",
    file: "reviews/decisions.ts",
    from:
      "      for (const each of own) await emitReviewed(tx, services, each);\n",
    to: `      tx.onCommit(() => void services.db.write(async (tx) => {
        for (const each of own) await emitReviewed(tx, services, each);
      }));
`,
  },
  {
    name: "uploads: a status is read in several snapshots",
    file: "http/handlers/transaction_endpoints.ts",
    from: `    record ??= await db.of(seller.no).read((sql) =>
      readRecord(sql, query, mayBeLong)
    );`,
    to: `    const alone = (name) => (...args) =>
      db.of(seller.no).read((sql) => sql[name](...args));
    const each = { get: alone("get"), all: alone("all") } as Sql;
    record ??= await readRecord(each, query, mayBeLong);`,
  },
  {
    name: "uploads: images of an upload wake no worker",
    file: "catalogue/transaction_write.ts",
    from: "if (pending > 0) tx.onCommit(() => signals.images.announce());",
    to: "if (pending > 0) tx.onCommit(() => void signals.images);",
  },
  {
    name: "deliveries: a new event wakes no worker",
    file: "webhooks/ingest.ts",
    from: "if (delivery !== null) signals.deliveries.announce();",
    to: "if (delivery !== null) void signals.deliveries;",
  },
  {
    name: "retention: keys of requests are kept for a year",
    file: "database/schema.ts",
    from: `by: "expires_at",
      age: { days: 0 },`,
    to: `by: "expires_at",
      age: { days: 365 },`,
  },
  {
    name: "deliveries: a list of a state shows other states",
    file: "webhooks/delivery_log.ts",
    from: '${state === null ? "" : "AND deliveries.state = ?"}',
    to: '${state === null ? "" : "AND deliveries.state >= ?"}',
  },
  {
    name: "uploads: a cached status does not learn of its undo",
    file: "http/handlers/transaction_endpoints.ts",
    from: "if (undoneBy === cached.undoneBy) return",
    to: "if (undoneBy !== cached) return",
  },
  {
    name: "sqlite: a statement that changes too few rows is accepted",
    file: "database/sqlite/connection.ts",
    from: "    if (conflict === null) return;\n    this.failure",
    to: "    if (conflict === null || changed < 1) return;\n    this.failure",
  },
  {
    name: "prices: a page of a history begins with the end of the former one",
    file: "catalogue/price_changes.ts",
    from: "at < place.before && at > since",
    to: "at <= place.before && at > since",
  },
];

/** The text of a file with its fault. */
export function planted(fault: PlantedFault, text: string): string {
  const edits = fault.also === undefined ? [fault] : [fault, fault.also];
  return edits.reduce((text, { from, to }) => {
    if (text.split(from).length !== 2) {
      throw new Error(`${fault.file} does not have once: ${from}`);
    }
    return text.replace(from, () => to);
  }, text);
}
