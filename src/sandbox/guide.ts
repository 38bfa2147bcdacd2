/** The shell lines that a sandbox prints when it is ready. */

export interface GuideOptions {
  /** URL of the service, without a slash at the end. */
  service: string;
  /** URL of the image host and webhook sink, without a slash at the end. */
  loopback: string;
  /** The data folder. */
  dataDir: string;
  /** Whether the data folder is removed at the end. */
  isTemporary: boolean;
  /** The webhook secret of the demo seller, `whsec_…`. */
  secret: string;
  sellerKey: string;
  operatorKey: string;
}

/** Comments start with `#`; every other line can be pasted unchanged. */
export function guide(options: GuideOptions): string[] {
  const { service, loopback, dataDir, isTemporary } = options;
  const { secret, sellerKey, operatorKey } = options;
  const key = `-H 'X-Service-Auth: ${sellerKey}'`;
  const operator = `-H 'X-Service-Auth: ${operatorKey}'`;
  const xml = "-H 'Content-Type: text/xml'";
  const bulk = `${service}/seller_api/bulk_products`;
  const post = (file: string) =>
    `curl -s ${loopback}/${file} | curl -s '${bulk}?v=1.1' ${key} ${xml} --data-binary @-`;
  const webhook =
    `<webhook><trigger>order_created</trigger><url>${loopback}/hook</url></webhook>`;
  const attributes = "<products><product><sku>TEA-1</sku>" +
    '<price currency="SEK">79.00</price><quantity>40</quantity></product></products>';
  const event = "<event><seller>demo</seller><trigger>order_created</trigger>" +
    "<reference>order-1001</reference><data><order><number>1001</number>" +
    '<total currency="SEK">149.00</total></order></data></event>';
  return [
    `# Open ${service}/ in a browser, or paste these lines into another shell.`,
    `# Images, webhooks and mails have their own address, ${loopback}.`,
    `# Data: ${dataDir}${
      isTemporary
        ? ", removed at the end; --data names a lasting folder, SELLER_DATA_DIR does not."
        : "."
    }`,
    "# Upload a catalogue:",
    `id=$(${
      post("catalogue.xml")
    } | sed 's/.*<transaction_id>//; s/<.*//'); echo "$id"`,
    "# Its status, once every image is stored or has failed (some fail on purpose):",
    `curl -s "${bulk}/$id?wait=30" ${key}; echo`,
    "# A catalogue that is refused, with every reason:",
    `${post("refused.xml")}; echo`,
    "# One attribute of one product (204, no body):",
    `curl -s -i -X PUT ${key} ${service}/seller_api/products/TEA-1/attribute/availability/out_of_stock`,
    "# Price and quantity of many products at once:",
    `curl -s '${service}/seller_api/bulk_attributes?v=1.1' ${key} ${xml} -d '${attributes}'; echo`,
    "# A webhook, and an event, which is delivered to this terminal and verified",
    `# with the demo seller's webhook secret, ${secret}:`,
    `curl -s ${service}/seller_api/webhooks ${key} ${xml} -d '${webhook}'; echo`,
    `curl -s ${service}/operator_api/events ${operator} ${xml} -d '${event}'; echo`,
    "# Let changed products wait for the operator's review, change one, and list",
    "# the waiting products; decide on the page, with the operator's key:",
    `curl -s -X PUT ${operator} ${service}/operator_api/sellers/demo/attribute/review/changes`,
    `curl -s -X PUT ${key} ${service}/seller_api/products/TEA-2/attribute/title/Samovar`,
    `curl -s ${service}/operator_api/reviews ${operator}; echo`,
    "# The mails to the demo seller so far; the first arrives 20 s after an",
    "# import has finished or images have failed, the next one an hour later:",
    `curl -s ${loopback}/mail`,
    "# The webhooks received so far:",
    `curl -s ${loopback}/hook`,
  ];
}
