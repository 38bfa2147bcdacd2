/** The service's answers as objects for the views. */
import { type Problem, problemsOf } from "./client.ts";
import { childrenOf, find, numberOf, textOf } from "./xml.ts";

/** Counts of products as an upload changes them. */
export interface ProductCounts {
  total: number;
  created: number;
  updated: number;
  unchanged: number;
  /** By an undo. */
  deleted: number;
  /** With `accept=valid`. */
  refused: number;
}

/** Counts of references to images. */
export interface ImageCounts {
  total: number;
  pending: number;
  stored: number;
  reused: number;
  failed: number;
}

export interface ResultImage {
  url: string;
  status: string;
  attempts: number;
  code: string | null;
  message: string | null;
}

export interface Result {
  /** Null if it was refused. */
  id: string | null;
  /** Null if it was refused without a readable SKU. */
  sku: string | null;
  result: string;
  /** Only pending or failed ones. */
  images: ResultImage[];
  /** Why it was refused. */
  problems: Problem[];
  /** How many further problems were left out. */
  more: number;
}

/** Times are ISO 8601. */
export interface Transaction {
  id: string;
  status: string;
  createdAt: string;
  finishedAt: string | null;
  /** Percent of images that are finished. */
  progress: number;
  products: ProductCounts;
  images: ImageCounts;
  /** Ids of transactions; null if there is none. */
  undoes: string | null;
  undoneBy: string | null;
  /** Empty in events and lists. */
  results: Result[];
}

export function readProductCounts(products: Element | null): ProductCounts {
  return {
    total: numberOf(products, "total"),
    created: numberOf(products, "created"),
    updated: numberOf(products, "updated"),
    unchanged: numberOf(products, "unchanged"),
    deleted: numberOf(products, "deleted"),
    refused: numberOf(products, "refused"),
  };
}

export function readTransaction(transaction: Element): Transaction {
  const images = find(transaction, "images");
  return {
    id: textOf(transaction, "transaction_id") ?? "",
    status: textOf(transaction, "status") ?? "",
    createdAt: textOf(transaction, "created_at") ?? "",
    finishedAt: textOf(transaction, "finished_at"),
    progress: numberOf(transaction, "progress"),
    products: readProductCounts(find(transaction, "products")),
    images: {
      total: numberOf(images, "total"),
      pending: numberOf(images, "pending"),
      stored: numberOf(images, "stored"),
      reused: numberOf(images, "reused"),
      failed: numberOf(images, "failed"),
    },
    undoes: textOf(transaction, "undoes"),
    undoneBy: textOf(transaction, "undone_by"),
    results: childrenOf(find(transaction, "results"), "product").map(
      readResult,
    ),
  };
}

function readResult(product: Element): Result {
  const details = find(product, "details");
  return {
    id: textOf(product, "id"),
    sku: textOf(product, "sku"),
    result: textOf(product, "result") ?? "",
    problems: problemsOf(details),
    more: numberOf(details, "more"),
    images: childrenOf(product, "image").map((image) => ({
      url: textOf(image, "url") ?? "",
      status: textOf(image, "status") ?? "",
      attempts: numberOf(image, "attempts"),
      code: textOf(image, "code"),
      message: textOf(image, "message"),
    })),
  };
}

export interface ProductImage {
  url: string;
  alt: string | null;
  status: string | null;
  /** Path of the stored copy; null if there is none. */
  href: string | null;
  code: string | null;
  message: string | null;
}

export interface Product {
  id: string;
  sku: string;
  title: string;
  /** Texts by element name; unset ones are missing. */
  fields: Readonly<Record<string, string>>;
  currency: string;
  categories: string[];
  attributes: { name: string; value: string }[];
  images: ProductImage[];
  createdAt: string | null;
  updatedAt: string | null;
}

export function readProduct(product: Element): Product {
  const fields = Object.fromEntries(
    [...product.children].filter((field) => field.children.length === 0)
      .map((field) => [field.tagName, field.textContent]),
  );
  return {
    id: fields.id ?? "",
    sku: fields.sku ?? "",
    title: fields.title ?? "",
    fields,
    currency: find(product, "price")?.getAttribute("currency") ?? "",
    categories: childrenOf(find(product, "categories"), "category")
      .map((category) => category.textContent),
    attributes: childrenOf(find(product, "attributes"), "attribute")
      .map((attribute) => ({
        name: attribute.getAttribute("name") ?? "",
        value: attribute.textContent,
      })),
    images: childrenOf(find(product, "images"), "image").map(readImage),
    createdAt: product.getAttribute("created_at"),
    updatedAt: product.getAttribute("updated_at"),
  };
}

function readImage(image: Element): ProductImage {
  return {
    url: image.textContent,
    alt: image.getAttribute("alt"),
    status: image.getAttribute("status"),
    href: image.getAttribute("href"),
    code: image.getAttribute("code"),
    message: image.getAttribute("message"),
  };
}

export interface Webhook {
  trigger: string;
  url: string;
  disabledAt: string | null;
  failingSince: string | null;
  /** Why the last attempt failed. */
  lastError: string | null;
}

export function readWebhook(webhook: Element): Webhook {
  return {
    trigger: textOf(webhook, "trigger") ?? "",
    url: textOf(webhook, "url") ?? "",
    disabledAt: textOf(webhook, "disabled_at"),
    failingSince: textOf(webhook, "failing_since"),
    lastError: textOf(webhook, "last_error"),
  };
}

export interface Attempt {
  number: number;
  url: string;
  startedAt: string;
  /** Milliseconds; null while it is running. */
  durationMs: number | null;
  status: string | null;
  error: string | null;
}

export interface Delivery {
  id: string;
  eventId: string;
  state: string;
  createdAt: string;
  nextAttemptAt: string | null;
  attempts: Attempt[];
}

export function readDelivery(delivery: Element): Delivery {
  return {
    id: textOf(delivery, "id") ?? "",
    eventId: textOf(delivery, "event_id") ?? "",
    state: textOf(delivery, "state") ?? "",
    createdAt: textOf(delivery, "created_at") ?? "",
    nextAttemptAt: textOf(delivery, "next_attempt_at"),
    attempts: childrenOf(find(delivery, "attempts"), "attempt").map(
      (attempt) => {
        const duration = textOf(attempt, "duration_ms");
        return {
          number: numberOf(attempt, "number"),
          url: textOf(attempt, "url") ?? "",
          startedAt: textOf(attempt, "started_at") ?? "",
          durationMs: duration === null ? null : Number(duration),
          status: textOf(attempt, "status"),
          error: textOf(attempt, "error"),
        };
      },
    ),
  };
}

export interface Seller {
  id: string;
  name: string;
  status: string;
  createdAt: string;
  keys: number;
  webhooks: number;
  failingWebhooks: number;
  products: number;
  imageBytes: number;
  /** Null: the default of the settings. */
  limits: Readonly<Record<SellerLimit, number | null>>;
  lastUploadAt: string | null;
  lastUsedAt: string | null;
}

export const SELLER_LIMITS = [
  "rate_limit",
  "product_limit",
  "image_quota",
] as const;
export type SellerLimit = typeof SELLER_LIMITS[number];

export function readSeller(seller: Element): Seller {
  return {
    id: textOf(seller, "id") ?? "",
    name: textOf(seller, "name") ?? "",
    status: textOf(seller, "status") ?? "",
    createdAt: textOf(seller, "created_at") ?? "",
    keys: numberOf(seller, "keys"),
    webhooks: numberOf(seller, "webhooks"),
    failingWebhooks: numberOf(seller, "failing_webhooks"),
    products: numberOf(seller, "products"),
    imageBytes: numberOf(seller, "image_bytes"),
    limits: {
      rate_limit: limitOf(seller, "rate_limit"),
      product_limit: limitOf(seller, "product_limit"),
      image_quota: limitOf(seller, "image_quota"),
    },
    lastUsedAt: textOf(seller, "last_used_at"),
    lastUploadAt: textOf(seller, "last_upload_at"),
  };
}

function limitOf(seller: Element, name: SellerLimit): number | null {
  const text = textOf(seller, name);
  return text === null ? null : Number(text);
}

export interface Key {
  id: string;
  label: string | null;
  prefix: string | null;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export function readKey(key: Element): Key {
  return {
    id: textOf(key, "key_id") ?? "",
    label: textOf(key, "label"),
    prefix: textOf(key, "prefix"),
    createdAt: textOf(key, "created_at") ?? "",
    lastUsedAt: textOf(key, "last_used_at"),
    revokedAt: textOf(key, "revoked_at"),
  };
}

/** A refused request. */
export interface Refusal {
  /** The id of the request. */
  id: string;
  at: string;
  seller: string;
  route: string | null;
  status: number;
  code: string;
  message: string;
  problems: Problem[];
  /** How many further problems were left out. */
  more: number;
}

export function readRefusal(refusal: Element): Refusal {
  const details = find(refusal, "details");
  return {
    id: textOf(refusal, "request_id") ?? "",
    at: textOf(refusal, "at") ?? "",
    seller: textOf(refusal, "seller") ?? "",
    route: textOf(refusal, "route"),
    status: numberOf(refusal, "status"),
    code: textOf(refusal, "code") ?? "",
    message: textOf(refusal, "message") ?? "",
    problems: problemsOf(details),
    more: numberOf(details, "more"),
  };
}

/** An entry of the audit log. */
export interface Change {
  id: string;
  at: string;
  who: string;
  action: string;
  seller: string | null;
  detail: string;
}

export function readChange(entry: Element): Change {
  return {
    id: textOf(entry, "id") ?? "",
    at: textOf(entry, "at") ?? "",
    who: textOf(entry, "who") ?? "",
    action: textOf(entry, "action") ?? "",
    seller: textOf(entry, "seller"),
    detail: textOf(entry, "detail") ?? "",
  };
}

export interface FailingWebhook extends Webhook {
  seller: string;
  failures: number;
}

/** Counts of one hour, by element name. */
export interface Hour {
  from: string;
  counts: Readonly<Record<string, number>>;
}

/** The state of the whole service. */
export interface Status {
  backlog: Readonly<Record<string, number>>;
  failing: FailingWebhook[];
  /** The oldest first. */
  hours: Hour[];
}

export function readStatus(root: Element): Status {
  return {
    backlog: countsOf(find(root, "backlog")),
    failing: childrenOf(find(root, "failing_webhooks"), "webhook").map(
      (webhook) => ({
        ...readWebhook(webhook),
        seller: textOf(webhook, "seller") ?? "",
        failures: numberOf(webhook, "failures"),
      }),
    ),
    hours: childrenOf(find(root, "hours"), "hour").map((hour) => ({
      from: hour.getAttribute("from") ?? "",
      counts: countsOf(hour),
    })),
  };
}

/** Jobs of one queue by state, and how long the oldest is due, in seconds. */
export interface Queue {
  name: string;
  states: Readonly<Record<string, number>>;
  oldestSeconds: number;
}

/** The queues in the text of `/metrics`. */
export function readQueues(metrics: string): Queue[] {
  const queues = new Map<string, { -readonly [K in keyof Queue]: Queue[K] }>();
  for (const line of metrics.split("\n")) {
    const [metric, labels = ""] = line.split("{", 2);
    if (!metric.startsWith("seller_queue")) continue;
    const label = (name: string) => labels.split(`${name}="`)[1]?.split('"')[0];
    const name = label("queue");
    if (name === undefined) continue;
    const value = Number(line.slice(line.lastIndexOf(" ") + 1));
    const queue = queues.get(name) ?? { name, states: {}, oldestSeconds: 0 };
    const state = label("state");
    if (metric === "seller_queue" && state !== undefined) {
      queue.states = { ...queue.states, [state]: value };
    }
    if (metric === "seller_queue_oldest_due_seconds") {
      queue.oldestSeconds = value;
    }
    queues.set(name, queue);
  }
  return [...queues.values()];
}

function countsOf(element: Element | null): Record<string, number> {
  return Object.fromEntries(
    [...element?.children ?? []].map((child) => [
      child.tagName,
      Number(child.textContent),
    ]),
  );
}
