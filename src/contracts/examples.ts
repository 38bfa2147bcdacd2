/** Examples of documents and answers in the handbook; tests validate each. */
import { QUEUE_NAMES, QUEUES } from "../jobs/queues.ts";
import { SELLER_LIMITS } from "../sellers/limits.ts";
import { eventBody, eventInXml } from "../webhooks/event.ts";
import {
  DEFAULT_MEANINGS,
  type TriggerMeaning,
} from "../webhooks/trigger_meanings.ts";
import type { AnswerName } from "./answers.ts";

export const PRODUCTS_EXAMPLE = `<products>
  <product>
    <sku>MUG-1</sku>
    <title>Mug, enamelled</title>
    <description><![CDATA[<p>Holds <b>0.3 l</b>.</p>]]></description>
    <price currency="SEK">149.00</price>
    <compare_at_price>199.00</compare_at_price>
    <vat_rate>25</vat_rate>
    <quantity>12</quantity>
    <gtin>4006381333931</gtin>
    <brand>Kockums</brand>
    <mpn>K-300</mpn>
    <condition>new</condition>
    <status>active</status>
    <parent_sku>MUG</parent_sku>
    <categories><category>Home &gt; Kitchen</category></categories>
    <attributes><attribute name="color">Blue</attribute></attributes>
    <images><image alt="front">https://cdn.example/mug.png</image></images>
  </product>
  <product>
    <sku>MUG-2</sku>
    <availability>backorder</availability>
    <available_at>2026-12-01</available_at>
    <brand/>
  </product>
</products>`;

export const ATTRIBUTES_EXAMPLE = `<products>
  <product>
    <sku>MUG-1</sku>
    <price currency="SEK">149.00</price>
    <quantity>12</quantity>
  </product>
  <product><sku>MUG-2</sku><quantity>0</quantity></product>
</products>`;

const FORMER_EXAMPLE =
  '<former><title>Mug</title><price currency="SEK">159</price>' +
  "<quantity>3</quantity><gtin>4006381333931</gtin></former>";

/** The body of a delivery, with the trigger's example as data. */
export function deliveredExample(
  { trigger, example }: Pick<TriggerMeaning, "trigger" | "example">,
): Uint8Array {
  return eventBody({
    id: "01a1f8b2-0b5c-7d0e-8a4e-5a9d3a6f2c11",
    trigger,
    createdAt: Date.UTC(2026, 10, 20, 8),
    data: example,
    test: false,
  });
}

export const WEBHOOK_EXAMPLE = `<webhook>
  <trigger>order_created</trigger>
  <url>https://seller.example/hooks/orders</url>
  <format>json</format>
</webhook>`;

export const EVENT_EXAMPLE = `<event>
  <seller>acme</seller>
  <trigger>order_created</trigger>
  <reference>order-1001</reference>
  <data>
    <order><number>1001</number><total currency="SEK">149.00</total></order>
  </data>
</event>`;

export const SELLER_EXAMPLE = `<seller><name>acme</name></seller>`;

export const KEY_EXAMPLE = `<key>
  <label>ERP</label>
  <scopes><scope>products</scope></scopes>
  <networks><network>192.0.2.0/28</network></networks>
  <expires_at>2027-12-01T08:00:00Z</expires_at>
</key>`;

export const REVIEWS_EXAMPLE = `<reviews>
  <review>
    <product>01a1f8a9-48dd-7dda-af68-77c9d5d897a7</product>
    <decision>approved</decision>
  </review>
  <review>
    <product>01a1f8a2-7c11-7e0a-b2d4-90a1c3e5f701</product>
    <decision>rejected</decision>
    <code>logo_in_image</code>
    <field>images</field>
    <message>The first image shows a logo; send one without.</message>
    <changed_at>2026-11-20T11:13:26.236Z</changed_at>
  </review>
</reviews>`;

export const REASONS_EXAMPLE = `<reasons>
  <reason>
    <code>logo_in_image</code>
    <field>images</field>
    <message>An image shows a logo; send one without.</message>
  </reason>
</reasons>`;

const CATEGORY = `<category name="Home/Mugs">
  <rule field="gtin" required="true" from="2027-01-01"/>
  <rule attribute="material" required="true">
    <value>steel</value>
    <value>porcelain</value>
  </rule>
</category>`;

export const CATEGORIES_EXAMPLE = `<categories closed="true">
${indented(CATEGORY)}
</categories>`;

export const MEANING_EXAMPLE = `<trigger>
  <about>A customer has paid. Send the parcel within two days.</about>
  <example>
    <order>
      <number>1001</number>
      <ship_by>2026-11-22</ship_by>
    </order>
  </example>
</trigger>`;

export const MAPPING_EXAMPLE = `<mapping>
  <columns>
    <column field="weight" unit="kg">Vikt</column>
    <column field="">Shelf</column>
  </columns>
  <values><value field="currency">SEK</value></values>
</mapping>`;

export const CONTACT_EXAMPLE = `<contact>
  <company>Kockums Jernverk AB</company>
  <street>Bruksgatan 3</street>
  <postal_code>372 38</postal_code>
  <city>Ronneby</city>
  <country>SE</country>
  <email>safety@kockums.example</email>
</contact>`;

const KEY_RIGHTS = `<scopes><scope>products</scope></scopes>
<networks><network>192.0.2.0/28</network></networks>
<expires_at>2027-12-01T08:00:00.000Z</expires_at>`;

const ID = "01a1f8a9-48de-7b1f-9134-1d9a76779e57";
const IMPORT_ID = "01a1f8a9-48df-7c20-8a51-6b0c3f1e2d94";
const PRODUCT_ID = "01a1f8a9-48dd-7dda-af68-77c9d5d897a7";
const DELETED_ID = "01a1f8a2-7c11-7e0a-b2d4-90a1c3e5f701";
const DELIVERY_ID = "01a1f8a9-54fc-7a02-8c3d-0d2b5c1f7a11";
const EVENT_ID = "01a1f8a9-54fb-75a4-9674-4fa8cb031fd7";
const AT = "2026-11-20T11:13:26.236Z";
const SHA256 =
  "8ec0350483ec02fa8e0cbd04c6e367b36128a687eb829be66028e51d701ec9fa";

function indented(xml: string): string {
  return xml.replace(/^/gm, "  ");
}

function service(...content: string[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<service>",
    ...content.map(indented),
    "</service>",
  ].join("\n");
}

function product(ownerAttributes = "", moreElements = ""): string {
  return `<product${ownerAttributes} created_at="${AT}" updated_at="${AT}">
  <id>${PRODUCT_ID}</id>
  <sku>MUG-1</sku>
  <title>Mug, enamelled</title>
  <price currency="SEK">149</price>
  <quantity>12</quantity>
  <availability>in_stock</availability>
  <condition>new</condition>
  <status>active</status>
  <images>
    <image alt="front" status="stored" href="/images/8e/${SHA256}.png" type="image/png" width="640" height="480">https://cdn.example/mug.png</image>
  </images>
  <lowest_price days="30" currency="SEK">159</lowest_price>${moreElements}
</product>`;
}

const SENDING_KEY =
  `<key><key_id>${PRODUCT_ID}</key_id><label>ERP</label></key>`;

/** The elements of a transaction before its results. */
function transactionProgress(total: string, refused = ""): string {
  return `<transaction_id>${ID}</transaction_id>
  <status>completed_with_errors</status>
  <created_at>${AT}</created_at>
  <finished_at>2026-11-20T11:13:29.285Z</finished_at>
  <progress>100</progress>
  <products>${total}<created>1</created><updated>0</updated><unchanged>0</unchanged>${refused}</products>
  <images><total>1</total><pending>0</pending><stored>0</stored><reused>0</reused><failed>1</failed></images>
  <undone_by>01a1f8b9-1f02-7000-9a61-52f0c1d2e3a4</undone_by>
  ${SENDING_KEY}`;
}

function importRecord(problems: string): string {
  return `<import>
  <import_id>${IMPORT_ID}</import_id>
  <name>mugs.xml</name>
  <status>completed_with_errors</status>
  <created_at>${AT}</created_at>
  <finished_at>2026-11-20T11:13:29.285Z</finished_at>
  <progress>100</progress>
  <products><total>5000</total><created>4999</created><updated>0</updated><unchanged>0</unchanged><refused>1</refused></products>
  <images><total>0</total><pending>0</pending><stored>0</stored><reused>0</reused><failed>0</failed></images>
  ${SENDING_KEY}${problems === "" ? "" : `\n  ${problems}`}
</import>`;
}

const DELIVERY = `<delivery>
  <id>${DELIVERY_ID}</id>
  <event_id>${EVENT_ID}</event_id>
  <state>pending</state>
</delivery>`;

const LIMITS = Object.entries(SELLER_LIMITS)
  .map(([name, { example }]) =>
    example === null ? `<${name}/>` : `<${name}>${example}</${name}>`
  ).join("\n");

const SELLER = `<id>${ID}</id>
<name>acme</name>
<status>active</status>
<created_at>${AT}</created_at>
${LIMITS}
<email>shop@acme.example</email>
<unsubscribed_at/>
<review>none</review>
<products>1280</products>
<image_bytes>734003200</image_bytes>
<import_bytes>0</import_bytes>
<keys>1</keys>
<webhooks>2</webhooks>
<failing_webhooks>1</failing_webhooks>
<last_upload_at>${AT}</last_upload_at>
<last_used_at>2026-11-20T11:13:00.000Z</last_used_at>`;

const OWNER_ATTRIBUTES = `seller="acme" seller_id="${ID}"`;

const FEED = service(
  `<products>
${
    indented(product(
      ` ${OWNER_ATTRIBUTES}`,
      `
  <manufacturer name="kockums">
${indented(CONTACT_EXAMPLE.split("\n").slice(1, -1).join("\n"))}
    <id>${ID}</id>
  </manufacturer>`,
    ))
  }
  <product ${OWNER_ATTRIBUTES} deleted_at="${AT}">
    <id>${DELETED_ID}</id>
    <sku>MUG-9</sku>
  </product>
</products>`,
  `<next>2042-${DELETED_ID}</next>`,
);

const MAPPING = MAPPING_EXAMPLE.replace(
  "<mapping>",
  `<mapping>
  <name>price list</name>
  <updated_at>${AT}</updated_at>`,
);

const CONTACT = CONTACT_EXAMPLE.replace(
  "<contact>",
  `<contact>
  <name>kockums</name>
  <updated_at>${AT}</updated_at>`,
);

/** An example of each answer. */
export const ANSWER_EXAMPLES: Readonly<Record<AnswerName, string>> = {
  error: service(`<error>
  <code>record_invalid</code>
  <message>Record Invalid</message>
  <request_id>01a1f8b2-02f8-7191-a2fb-fc4f2a2d612b</request_id>
  <details>
    <detail>
      <product>1</product>
      <sku>MUG-1</sku>
      <line>16</line>
      <field>images/image[1]</field>
      <code>image_unavailable</code>
      <message>HEAD https://cdn.example/mug.png answered 404; an image URL must answer 200.</message>
    </detail>
  </details>
</error>`),
  upload: service(
    `<transaction_id>${ID}</transaction_id>`,
    "<refused>1</refused>",
  ),
  dry_run: service(`<dry_run>
  <products><total>2</total><created>1</created><updated>1</updated><unchanged>0</unchanged></products>
  <results>
    <product>
      <id>${PRODUCT_ID}</id><sku>MUG-1</sku><result>updated</result>
      ${FORMER_EXAMPLE}
    </product>
    <product><sku>MUG-2</sku><result>created</result></product>
  </results>
</dry_run>`),
  undo_dry_run: service(`<dry_run>
  <products><total>2</total><created>0</created><updated>0</updated><unchanged>1</unchanged><deleted>1</deleted></products>
  <details>
    <detail>
      <product>2</product>
      <sku>MUG-2</sku>
      <field>brand</field>
      <code>changed_since</code>
      <message>brand was changed since; it is "Rörstrand" now. changed=keep leaves it and undoes the rest.</message>
    </detail>
  </details>
</dry_run>`),
  transaction: service(`<transaction>
  ${transactionProgress("<total>2</total>", "<refused>1</refused>")}
  <results>
    <product>
      <id>${PRODUCT_ID}</id><sku>MUG-1</sku><result>created</result>
      <image>
        <url>https://cdn.example/mug.png</url><status>failed</status><attempts>1</attempts>
        <code>image_not_found</code><message>GET answered 404; an image URL must answer 200.</message>
      </image>
    </product>
    <product>
      <sku>MUG-3</sku><result>refused</result>
      <details>
        <detail>
          <product>2</product>
          <sku>MUG-3</sku>
          <line>20</line>
          <field>title</field>
          <code>required</code>
          <message>title is missing; no product has this SKU, and a new one needs &lt;title&gt;.</message>
        </detail>
      </details>
    </product>
  </results>
</transaction>`),
  transactions: service(
    `<transactions>\n  <transaction>\n${
      indented(`  ${transactionProgress("<total>1</total>")}`)
    }\n  </transaction>\n</transactions>`,
    `<next>${ID}</next>`,
  ),
  import_begun: service(`<import_id>${IMPORT_ID}</import_id>`),
  import: service(importRecord(`<problems>
    <detail>
      <product>301</product>
      <sku>MUG-301</sku>
      <line>2707</line>
      <field>price</field>
      <code>required</code>
      <message>price is missing; no product has this SKU, and a new one needs &lt;price&gt;.</message>
    </detail>
  </problems>`)),
  imports: service(`<imports>
${indented(importRecord(""))}
</imports>`),
  import_results: service(
    `<results>
  <product>
    <id>${PRODUCT_ID}</id><sku>MUG-1</sku><result>updated</result>
    ${FORMER_EXAMPLE}
  </product>
  <product>
    <sku>mug-2</sku><result>created</result>
    <similar><sku>MUG-2</sku><title>Mug, blue</title></similar>
  </product>
</results>`,
    "<next>0-1</next>",
  ),
  images_retry: service(
    `<transaction_id>${ID}</transaction_id>`,
    "<images><retried>1</retried></images>",
  ),
  import_images_retry: service(
    `<import_id>${IMPORT_ID}</import_id>`,
    "<retried>1</retried>",
  ),
  image: service(`<image>
  <url>https://shop.example/images/65/656f2c1a9b0d4e7f8a31c5d2e6b7f09812ac34de56f7890b1c2d3e4f5a6b7c8d.png</url>
  <type>image/png</type><width>1200</width><height>900</height>
  <bytes>184320</bytes>
</image>`),
  product: service(product()),
  followed_products: FEED,
  products: service(
    `<products>\n${indented(product())}\n</products>`,
    `<next>${PRODUCT_ID}</next>`,
  ),
  changes: service(`<changes>
  <change>
    <at>${AT}</at>
    <from>169</from>
    <to>149</to>
    <currency>SEK</currency>
    <by>upload ${ID}</by>
    <key_id>${PRODUCT_ID}</key_id>
  </change>
</changes>`),
  success: service("<success>true</success>"),
  webhooks: service(`<webhook>
  <trigger>order_created</trigger>
  <url>https://seller.example/hooks/orders</url>
  <format>json</format>
  <failing_since>${AT}</failing_since>
  <last_error>The answer was 500; only 2xx is a success.</last_error>
</webhook>`),
  deliveries: service(
    `<deliveries>
  <delivery>
    <id>${DELIVERY_ID}</id>
    <event_id>${EVENT_ID}</event_id>
    <state>retrying</state>
    <created_at>${AT}</created_at>
    <next_attempt_at>2026-11-20T11:18:27.001Z</next_attempt_at>
    <attempts>
      <attempt>
        <number>1</number>
        <url>https://seller.example/hooks/orders</url>
        <started_at>${AT}</started_at>
        <duration_ms>38</duration_ms>
        <status>500</status>
        <error/>
      </attempt>
    </attempts>
  </delivery>
</deliveries>`,
    `<next>${DELIVERY_ID}</next>`,
  ),
  delivery: service(DELIVERY),
  webhook_secret: service(
    "<webhook_secret>whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD</webhook_secret>",
  ),
  event: service(`<event_id>${EVENT_ID}</event_id>`),
  events: service(
    `<events>\n  ${
      eventInXml(deliveredExample(DEFAULT_MEANINGS[0]))
    }\n</events>`,
    "<next>41</next>",
  ),
  recovery: service("<recovery><queued>37</queued></recovery>"),
  reviews: service(
    `<reviews>\n${
      indented(product(
        ` ${OWNER_ATTRIBUTES}`,
        `
  <review><state>pending</state><at>${AT}</at></review>
  <changed_at>${AT}</changed_at>
  <changed><field>title</field></changed>
  <former><title>Mug</title></former>`,
      ))
    }\n</reviews>`,
    `<next>1795173206236-${PRODUCT_ID}</next>`,
  ),
  reasons: service(REASONS_EXAMPLE),
  triggers: service(`<triggers>
  <trigger>
    <name>order_paid</name>
    <about>A customer has paid. Send the parcel within two days.</about>
    <example><order><number>1001</number></order></example>
  </trigger>
</triggers>`),
  categories: service(CATEGORIES_EXAMPLE),
  category: service(CATEGORY),
  sellers: service(`<sellers>
  <seller>
${indented(indented(SELLER))}
  </seller>
</sellers>`),
  account: service(`<account>
${indented(SELLER)}
  <key_id>${ID}</key_id>
  <source_addresses>
    <source_address>198.51.100.16/28</source_address>
  </source_addresses>
</account>`),
  new_seller: service(`<seller>
  <id>${ID}</id>
  <name>acme</name>
  <key_id>${PRODUCT_ID}</key_id>
  <api_key>sk_T2xkIHNlY3JldHMgYXJlIG5vIHNlY3JldHMuLi4uLi4</api_key>
  <webhook_secret>whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0MTI=</webhook_secret>
</seller>`),
  new_key: service(`<key>
  <key_id>${PRODUCT_ID}</key_id>
  <label>ERP</label>
  <api_key>sk_T2xkIHNlY3JldHMgYXJlIG5vIHNlY3JldHMuLi4uLi4</api_key>
${indented(KEY_RIGHTS)}
</key>`),
  keys: service(`<keys>
  <key>
    <key_id>${PRODUCT_ID}</key_id>
    <label>ERP</label>
    <prefix>sk_T2xkI</prefix>
    <created_at>${AT}</created_at>
    <last_used_at>2026-11-20T11:13:00.000Z</last_used_at>
    <revoked_at/>
${indented(indented(KEY_RIGHTS))}
  </key>
</keys>`),
  refusals: service(
    `<refusals>
  <refusal>
    <at>${AT}</at>
    <request_id>${ID}</request_id>
    <times>1</times>
    <seller>acme</seller>
    <key_id>${ID}</key_id>
    <client_address>192.0.2.7</client_address>
    <route>POST /seller_api/bulk_products</route>
    <status>422</status>
    <code>record_invalid</code>
    <message>Record Invalid</message>
    <size>18250</size>
    <details>
      <detail>
        <product>1</product>
        <sku>MUG-1</sku>
        <line>5</line>
        <field>title</field>
        <code>required</code>
        <message>title is missing.</message>
      </detail>
    </details>
  </refusal>
</refusals>`,
    `<next>${ID}</next>`,
  ),
  contact: service(CONTACT),
  contact_changes: service(
    `<contacts>
${
      indented(CONTACT.replace(
        "<contact>",
        `<contact>
  <id>${ID}</id>
  <seller>acme</seller>
  <seller_id>${ID}</seller_id>`,
      ))
    }
  <contact deleted_at="${AT}">
    <id>${DELETED_ID}</id>
    <seller>acme</seller>
    <seller_id>${ID}</seller_id>
    <name>old supplier</name>
  </contact>
</contacts>`,
    `<next>2042-${DELETED_ID}</next>`,
  ),
  contacts: service(`<contacts>\n${indented(CONTACT)}\n</contacts>`),
  mapping: service(MAPPING),
  mappings: service(`<mappings>\n${indented(MAPPING)}\n</mappings>`),
  audit: service(
    `<audit>
  <entry>
    <id>${ID}</id>
    <at>${AT}</at>
    <who>ops</who>
    <action>seller set</action>
    <seller>acme</seller>
    <detail>status = suspended</detail>
  </entry>
</audit>`,
    `<next>${ID}</next>`,
  ),
  status: service(
    `<backlog>
  ${
      QUEUE_NAMES.map((name) => `<${name}>${QUEUES[name].example}</${name}>`)
        .join("\n  ")
    }
  <held_deliveries>0</held_deliveries>
  <exhausted_deliveries>1</exhausted_deliveries>
  <pending_reviews>12</pending_reviews>
</backlog>`,
    `<queues>
  <queue><name>images</name><waiting>36</waiting><in_progress>4</in_progress><oldest_due_seconds>2</oldest_due_seconds></queue>
  <queue><name>deliveries</name><waiting>2</waiting><in_progress>0</in_progress><oldest_due_seconds>0</oldest_due_seconds></queue>
  <queue><name>imports</name><waiting>0</waiting><in_progress>1</in_progress></queue>
  <queue><name>notices</name><waiting>0</waiting><in_progress>0</in_progress><oldest_due_seconds>0</oldest_due_seconds></queue>
</queues>`,
    `<failing_webhooks>
  <webhook>
    <seller>acme</seller>
    <trigger>order_created</trigger>
    <url>https://seller.example/hooks/orders</url>
    <failures>3</failures>
    <failing_since>${AT}</failing_since>
  </webhook>
</failing_webhooks>`,
    `<hours>
  <hour from="2026-11-20T11:00:00.000Z">
    <uploads>12</uploads>
    <images_stored>340</images_stored>
    <images_failed>5</images_failed>
    <deliveries_delivered>61</deliveries_delivered>
    <deliveries_failed>3</deliveries_failed>
  </hour>
</hours>`,
    `<disks>
  <disk><holds>data</holds><free_percent>8</free_percent><low>true</low></disk>
</disks>`,
  ),
  database: service(`<database>
  <engine>citus</engine>
  <shards>32</shards>
  <servers>
    <server>
      <name>10.0.0.21:5432</name>
      <state>up</state>
      <sellers>12</sellers>
      <bytes>81264640</bytes>
    </server>
    <server>
      <name>10.0.0.22:5432</name>
      <state>away</state>
      <sellers>11</sellers>
    </server>
  </servers>
</database>`),
  health: service("<status>alive</status>"),
};
