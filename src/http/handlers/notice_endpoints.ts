/**
 * The pages behind the unsubscribe link of a mail. The link needs no key: its
 * signature identifies the seller. Only POST changes something, because mail
 * scanners follow links, and mail programs unsubscribe by POST (RFC 8058).
 */
import { escaped } from "../../lib/markup.ts";
import { readId } from "../../lib/ids.ts";
import {
  changeSubscription,
  findSubscription,
  type Subscription,
} from "../../sellers/email.ts";
import type { Exchange } from "../server/exchange.ts";
import { endpoint, type Reply } from "../server/route.ts";

const HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'; style-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Robots-Tag": "noindex",
  "Cache-Control": "no-store",
};

export const askToUnsubscribe = endpoint(null, async (exchange) => {
  const { services: { db } } = exchange;
  const [id, signature] = linkOf(exchange);
  const found = await db.read((sql) => findSubscription(sql, id, signature), {
    single: true,
  });
  return page(exchange, found, found?.isOn ?? false);
});

export const unsubscribe = endpoint(
  null,
  (exchange) => changeSubscriptionByLink(exchange, false),
);

export const subscribeAgain = endpoint(
  null,
  (exchange) => changeSubscriptionByLink(exchange, true),
);

async function changeSubscriptionByLink(
  exchange: Exchange,
  isOn: boolean,
): Promise<Reply> {
  const [sellerId, signature] = linkOf(exchange);
  const link = { sellerId, signature };
  const found = await changeSubscription(exchange.services, link, isOn);
  return page(exchange, found, isOn);
}

function linkOf({ params }: Exchange): [id: string, signature: string] {
  return [readId(params.seller) ?? "", params.signature];
}

function page(
  { params }: Exchange,
  found: Subscription | null,
  isOn: boolean,
): Reply {
  if (found === null) {
    const text = "This link is not valid, or was for an address that is no " +
      "longer in use. Newer mails have a newer link.";
    return { status: 404, headers: HEADERS, body: html(`<p>${text}</p>`) };
  }
  const name = escaped(found.seller.name);
  const link = `/notices/${params.seller}/${params.signature}`;
  const body = isOn
    ? `<p>Mails about trouble with the catalogue of <b>${name}</b> go to this
address, at most one an hour.</p>
${form(link, "End these mails")}`
    : `<p>No mails about <b>${name}</b> are sent to this address any more.</p>
${form(`${link}/again`, "Send them again")}`;
  return { headers: HEADERS, body: html(body) };
}

function form(action: string, label: string): string {
  return `<form method="post" action="${escaped(action)}">
<button type="submit">${label}</button>
</form>`;
}

function html(body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Mails about your shop</title>
<link rel="stylesheet" href="/docs.css">
</head>
<body>
<main>
<h1>Mails about your shop</h1>
${body}
</main>
</body>
</html>
`;
}
