/**
 * The review of products by operators, and the rejected products for sellers.
 */
import type { Services } from "../../services.ts";
import { PAGE_LIMIT } from "../../lib/request_limits.ts";
import {
  type AnswerForm,
  jsonForm,
  XML_FORM,
} from "../../contracts/answer_form.ts";
import { REASONS_EXAMPLE, REVIEWS_EXAMPLE } from "../../contracts/examples.ts";
import {
  type OwnedProduct,
  shownImages,
} from "../../catalogue/product_lists.ts";
import { listNode } from "../../catalogue/field_nodes.ts";
import {
  imageNode,
  productNode,
  type Shown,
} from "../../catalogue/product_xml.ts";
import { contactsOf } from "../../catalogue/contact.ts";
import { contactContents } from "../../catalogue/contact_rows.ts";
import {
  DECLARATION,
  END,
  xmlComment,
} from "../../catalogue/refused_products.ts";
import type { Sql } from "../../database/db.ts";
import { joinBlocks } from "../../lib/blocks.ts";
import type { Detail } from "../../lib/errors.ts";
import { DECISIONS_BYTES, readDecisions } from "../../reviews/decision.ts";
import { decideReviews as decide } from "../../reviews/decisions.ts";
import {
  FIRST_REVIEW,
  listReviews as reviewsOf,
  type ReviewPlace,
  reviewPlace,
} from "../../reviews/queue.ts";
import {
  listReasons as reasonsOf,
  putReasons as storeReasons,
  readReasons,
  REASONS_LIMIT,
} from "../../reviews/reasons.ts";
import { changedFields, reviewOf } from "../../catalogue/review.ts";
import { sellerByName } from "../../sellers/seller_rows.ts";
import {
  element,
  EncodedElement,
  isoTime,
  type XmlNode,
} from "../../xml/encode.ts";
import { cursor, ID_FIELD, numberField } from "../server/cursor.ts";
import { readPage } from "../server/list.ts";
import {
  AFTER,
  PAGE_SIZE,
  REVIEW_STATE_FILTER,
  SELLER_FILTER,
} from "../server/parameters.ts";
import { QueryReader } from "../server/query.ts";
import { endpoint } from "../server/route.ts";

const REVIEW_CURSOR = cursor<ReviewPlace>({
  at: numberField(/\d{1,15}/y),
  productId: ID_FIELD,
});

export const listReviews = endpoint({
  operation: "listReviews",
  title: "List products to review",
  about: "The product that has been in the state for longest comes first. " +
    "Each product is shown as it is now, with the changes since the last " +
    "approval.",
  parameters: [REVIEW_STATE_FILTER, SELLER_FILTER, AFTER, PAGE_SIZE],
  answers: ["reviews"],
  errors: ["not_found"],
}, async (exchange) => {
  const { services, query } = exchange;
  const reader = new QueryReader(query);
  const state = reader.read(REVIEW_STATE_FILTER) ?? "pending";
  const place = {
    after: reader.cursor(REVIEW_CURSOR) ?? FIRST_REVIEW,
    limit: reader.limit(),
  };
  reader.finish();
  const name = query.get(SELLER_FILTER.name);
  const sellerNo = name === null
    ? null
    : (await services.db.read((sql) => sellerByName(sql, name))).no;
  const { list, next, partial } = await readPage(
    exchange,
    "product",
    place,
    async (sql, after, count) => {
      const found = await reviewsOf(sql, { state, sellerNo }, after, count);
      return await reviewStep(
        services,
        sql,
        { found, count, whole: true },
        reviewNode,
      );
    },
    sellerNo,
  );
  return {
    xml: {
      reviews: { product: list },
      next: next && REVIEW_CURSOR.write(next),
      partial,
    },
  };
});

/** The reviewed products that one step read. */
interface ReviewedRows {
  found: readonly OwnedProduct[];
  /** How many products the step could read. */
  count: number;
  /** Whether products contain whole contacts, as for operators. */
  whole: boolean;
}

/** Makes entries of reviewed products, with their images and contacts. */
async function reviewStep<V>(
  { deps, publicUrl }: Services,
  sql: Sql,
  { found, count, whole }: ReviewedRows,
  nodeOf: (found: OwnedProduct, shown: Shown) => V,
) {
  const now = deps.clock.now();
  const shownBy = new Map<number, Shown>();
  for (const [no, ofSeller] of Map.groupBy(found, ({ owner }) => owner.no)) {
    const products = ofSeller.map(({ product }) => product);
    const former = products.flatMap((each) => reviewOf(each)?.former ?? []);
    const ids = products.flatMap(contactsOf).map(({ id }) => id);
    shownBy.set(no, {
      images: await shownImages(sql, no, [...products, ...former], publicUrl()),
      contacts: whole ? await contactContents(sql, no, ids) : undefined,
      now,
    });
  }
  const entries = found.map((each) => ({
    node: nodeOf(each, shownBy.get(each.owner.no)!),
    cursor: reviewPlace(each.product),
  }));
  return {
    entries,
    next: found.length === count ? entries[count - 1].cursor : null,
  };
}

function reviewNode(
  { product, owner }: OwnedProduct,
  shown: Shown,
): XmlNode {
  const review = reviewOf(product)!;
  const changed = changedFields(product, review);
  const { former } = review;
  const values: XmlNode = {};
  for (const field of former === null ? [] : changed) {
    // An empty list is left out, because JSON would show it.
    if (former![field]?.length === 0) continue;
    switch (field) {
      case "categories":
        values[field] = listNode("category", former!.categories);
        break;
      case "images":
        values[field] = listNode(
          "image",
          former!.images.map((image) =>
            imageNode(image, shown.images.get(image.url))
          ),
        );
        break;
      default:
        values[field] = former![field] ?? undefined;
    }
  }
  return {
    ...productNode(product, shown, owner),
    changed_at: isoTime(review.changedAt),
    changed: { field: changed },
    former: former === null ? undefined : values,
  };
}

export const decideReviews = endpoint({
  operation: "decideReviews",
  title: "Decide about products",
  about:
    "Stores up to 250 decisions, all or none. The audit log records each " +
    "decision, and the seller gets it as an event product_approved or " +
    "product_rejected. A repeated decision changes nothing. A rejection " +
    "needs a code or a message.",
  sends: { root: "reviews", example: REVIEWS_EXAMPLE },
  answers: ["success"],
  errors: ["too_many_products"],
}, async ({ services, who, document }) => {
  const problems: Detail[] = [];
  const root = await document(DECISIONS_BYTES);
  const decisions = readDecisions(root, problems);
  await decide(services, { who, decisions, problems });
  return { xml: { success: true } };
});

export const listReasons = endpoint({
  operation: "listReasons",
  title: "List the reasons for rejections",
  about: "Your list of reasons, in its order. The page offers the reasons to " +
    "reviewers.",
  answers: ["reasons"],
}, async ({ services }) => {
  const reasons = await services.db.read(reasonsOf);
  return {
    xml: {
      reasons: {
        reason: reasons.map(({ code, field, message }) => ({
          code,
          field: field ?? undefined,
          message: message ?? undefined,
        })),
      },
    },
  };
});

export const putReasons = endpoint({
  operation: "putReasons",
  title: "Replace the reasons for rejections",
  about:
    `Replaces the whole list, of up to ${REASONS_LIMIT} reasons. Decisions ` +
    "may also have codes that are not in the list.",
  sends: { root: "reasons", example: REASONS_EXAMPLE },
  answers: ["success"],
}, async ({ services, who, document }) => {
  const reasons = readReasons(await document(REASONS_BYTES));
  await storeReasons(services, { who, reasons });
  return { xml: { success: true } };
});

const REASONS_BYTES = 512 * 1_024;

export const getRejectedProducts = endpoint({
  operation: "getRejectedProducts",
  title: "Download rejected products",
  about: "A document <products> to correct and upload, with up to " +
    `${PAGE_LIMIT.maximum} products, the earliest rejection first. A comment ` +
    "before each product has the reason. A header Link leads to the next " +
    "page. In JSON, the reason is only in the review of each product.",
  parameters: [AFTER],
  answers: { type: "text/xml" },
}, async ({ form: { name }, heavyRead, services, query, seller: { no } }) => {
  const reader = new QueryReader(query);
  const after = reader.cursor(REVIEW_CURSOR) ?? FIRST_REVIEW;
  reader.finish();
  const { form, head, nodeOf, end } = REJECTED_DOCUMENT[name];
  const { list, next } = await readPage<ReviewPlace, XmlNode>(
    { form, heavyRead, services },
    "product",
    { after, limit: PAGE_LIMIT.maximum },
    async (sql, after, count) => {
      const filter = { state: "rejected", sellerNo: no } as const;
      const found = await reviewsOf(sql, filter, after, count);
      return await reviewStep(
        services,
        sql,
        { found, count, whole: false },
        nodeOf,
      );
    },
    no,
  );
  const encoder = new TextEncoder();
  const body = joinBlocks([
    encoder.encode(head),
    ...list.blocks,
    encoder.encode(end),
  ]);
  const headers: Record<string, string> = {};
  if (next) headers.Link = `<?after=${REVIEW_CURSOR.write(next)}>; rel="next"`;
  return { body, headers };
});

/** The document of rejected products in each format. */
const REJECTED_DOCUMENT: Readonly<
  Record<AnswerForm["name"], {
    form: AnswerForm;
    head: string;
    nodeOf: (found: OwnedProduct, shown: Shown) => XmlNode | EncodedElement;
    end: string;
  }>
> = {
  xml: {
    form: XML_FORM,
    head: `${DECLARATION}<products>\n`,
    nodeOf: rejectedElement,
    end: END,
  },
  json: {
    form: jsonForm(["products"]),
    head: '{"products":[',
    nodeOf: ({ product }, shown) => productNode(product, shown),
    end: "]}\n",
  },
};

function rejectedElement(
  { product }: OwnedProduct,
  shown: Shown,
): EncodedElement {
  const { code, field, message } = reviewOf(product)!;
  const reason = [code, field, message].filter((part) => part !== null);
  const comment = xmlComment(`rejected: ${reason.join(", ")}`);
  const text = element("product", productNode(product, shown));
  return new EncodedElement(`${comment}\n${text}\n`);
}
