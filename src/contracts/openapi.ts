/** Writes the OpenAPI 3.1 description (https://spec.openapis.org/oas/v3.1.1). */
import { CONFLICT_STATUS, type ErrorCode, ERRORS } from "../lib/errors.ts";
import { type AnswerName, ANSWERS } from "./answers.ts";
import { DOCUMENTS } from "./documents.ts";
import {
  type Endpoint,
  errorsOf,
  mediaTypes,
  type Parameter,
  PATH_PARAMETERS,
  takesIdempotencyKey,
} from "./endpoint.ts";
import { scopesOf } from "../sellers/scopes.ts";
import { eventInJson, eventInXml } from "../webhooks/event.ts";
import {
  DEFAULT_MEANINGS,
  type TriggerMeaning,
} from "../webhooks/trigger_meanings.ts";
import { ANSWER_EXAMPLES, deliveredExample } from "./examples.ts";
import { jsonWriter } from "../json/encode.ts";
import { valueFromXml } from "../json/instance.ts";
import type { XmlNode, XmlValue } from "../xml/encode.ts";
import {
  type Attribute,
  type Child,
  isText,
  listedIn,
  one,
  type Shape,
  TEXT_NAME,
  type TextForm,
} from "../xml/shapes.ts";

type Json = Record<string, unknown>;

const XML = "text/xml";
const JSON_TYPE = "application/json";
const encoder = new TextEncoder();

function textSchema(form: TextForm): Json {
  switch (form.kind) {
    case "line":
    case "text":
      return { type: "string", maxLength: form.max };
    case "integer":
      return { type: "integer", minimum: form.min ?? 0, maximum: form.max };
    case "word":
      return { type: "string", enum: form.words };
    case "decimal": {
      const { before, after } = form;
      const pattern = `^\\d{1,${before}}(\\.\\d{1,${after}})?$`;
      return { type: "string", pattern };
    }
    case "digits":
      return {
        type: "string",
        pattern: `^(${form.lengths.map((n) => `\\d{${n}}`).join("|")})$`,
      };
    case "capitals":
      return { type: "string", pattern: `^[A-Z]{${form.length}}$` };
    case "date":
      return { type: "string", format: "date" };
    case "time":
      return { type: "string", format: "date-time" };
    case "uuid":
      return { type: "string", format: "uuid" };
    case "boolean":
      return { type: "boolean" };
    case "string":
      return { type: "string" };
    case "any":
      return {};
  }
}

/** The schema of a text; null stands for the empty text. */
function contentSchema(form: TextForm): Json {
  const schema = textSchema(form);
  if (!form.empty) return schema;
  return {
    ...schema,
    type: [schema.type, "null"],
    ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
  };
}

/**
 * The schema of a text with optional XML attributes. Usually it is the schema
 * of the text alone, because answers have only the text, and a generated client
 * can send back what it has read. The description says that an object is
 * accepted, too.
 * If an attribute can be sent without the text, the schema is a union of the
 * text and one object with all attributes. There is only one object, because
 * generators take the first schema that fits.
 */
function plainSchema(
  form: TextForm,
  { attributes = {}, textName = TEXT_NAME }: Shape,
  name: string,
): Json {
  const text = contentSchema(form);
  const members = Object.entries<Attribute>({
    [textName]: { form },
    ...attributes,
  });
  if (!members.some(([, { replacesText }]) => replacesText)) {
    const names = members.map(([name]) => name).join(" and ");
    return {
      ...text,
      description: `an object of ${names} is accepted as well`,
    };
  }
  const properties = Object.fromEntries(
    members.map(([name, { form, about }]) => [
      name,
      { ...textSchema(form), ...(about && { description: about }) },
    ]),
  );
  const object = { title: `${name}_change`, type: "object", properties };
  return { anyOf: [text, object] };
}

/** Schemas of JSON; those of XML are in the XSD. */
class Components {
  readonly schemas: Record<string, Json> = {};
  readonly responses: Record<string, Json> = {};
  readonly #names = new Map<string, string>();

  /** Shares a response; if another response has its name, the name gets a number. */
  response(name: string, response: Json): Json {
    const text = JSON.stringify(response);
    const known = this.#names.get(text);
    if (known !== undefined) return { $ref: `#/components/responses/${known}` };
    let free = name;
    for (let n = 2; free in this.responses; n++) free = `${name}_${n}`;
    this.#names.set(text, free);
    this.responses[free] = response;
    return { $ref: `#/components/responses/${free}` };
  }

  /** `name`: the element's name. */
  shape(shape: Shape, name = ""): Json {
    const { type } = shape;
    if (type === undefined) return this.#schemaOf(shape, name);
    if (!(type in this.schemas)) {
      this.schemas[type] = {};
      this.schemas[type] = this.#schemaOf(shape, name);
    }
    return { $ref: `#/components/schemas/${type}` };
  }

  #schemaOf(shape: Shape, name: string): Json {
    const { content, textName = TEXT_NAME, orText, plain } = shape;
    const properties: Json = {};
    const required: string[] = [];
    if (isText(content)) {
      if (shape.attributes === undefined) return contentSchema(content);
      if (plain) return plainSchema(content, shape, name);
      properties[textName] = contentSchema(content);
      required.push(textName);
    } else {
      this.#members(content, properties, required);
    }
    for (const [name, attribute] of Object.entries(shape.attributes ?? {})) {
      properties[name] = {
        ...contentSchema(attribute.form),
        ...(attribute.about && { description: attribute.about }),
      };
      if (attribute.required) required.push(name);
    }
    // Only the description says that null is accepted. If the type said it,
    // generators would rename the class.
    const isNullable = isText(content) ? content.empty : shape.empty;
    const object = {
      type: "object",
      properties,
      ...(required.length > 0 && { required }),
      ...(isNullable && { description: "null is accepted as well" }),
    };
    return orText ? { anyOf: [object, { type: "string" }] } : object;
  }

  /**
   * Adds elements as members, including those that stand beside the items of a
   * list.
   */
  #members(
    children: readonly Child[],
    properties: Json,
    required: string[],
  ): void {
    for (const child of children) {
      const { name, shape, min, max, about, mayBeLeftOut } = child;
      const description = about && { description: about };
      const listed = max > 1 ? null : listedIn(shape);
      if (listed !== null) {
        properties[name] = {
          ...this.#array(listed.items),
          ...(shape.empty && { type: ["array", "null"] }),
          ...description,
        };
        this.#members(listed.others, properties, min > 0 ? required : []);
      } else if (max > 1) {
        properties[name] = this.#array({ name, shape, min, max, about });
      } else {
        properties[name] = { ...this.shape(shape, name), ...description };
      }
      if (min > 0 || (max > 1 && !mayBeLeftOut)) required.push(name);
    }
  }

  #array({ shape, min, max, about }: Child): Json {
    return {
      type: "array",
      items: this.shape(shape),
      ...(min > 0 && { minItems: min }),
      ...(max !== Infinity && { maxItems: max }),
      ...(about && { description: about }),
    };
  }
}

/**
 * A document in both formats. JSON comes first, because generators use the
 * first format; the schema of XML is the XSD.
 */
function inBothFormats(schema: Json, json: Json, xml: Json): Json {
  return {
    [JSON_TYPE]: { schema, ...json },
    [XML]: { schema: { type: "string", contentMediaType: XML }, ...xml },
  };
}

/**
 * The shape of a request's document in JSON: its members, or the list under the
 * name of its root.
 */
function sentShape(root: string, shape: Shape): Shape {
  return listedIn(shape) === null ? shape : { content: [one(root, shape)] };
}

/** An XML document of a shape as JSON. */
export function asJson(xml: string, shape: Shape): unknown {
  const instance = valueFromXml(encoder.encode(xml), shape);
  return JSON.parse(jsonWriter(shape)(instance as XmlValue));
}

function parameter(
  { name, about, schema, required, ...place }: Parameter,
): Json {
  return {
    name,
    in: place.in ?? "query",
    description: about,
    ...(required && { required }),
    schema: schema ?? { type: "string" },
  };
}

/** Names of the segments of a path that are parameters. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
}

function pathParameter(name: string): Json {
  const { about, words, idOf } = PATH_PARAMETERS[name];
  return {
    name,
    in: "path",
    required: true,
    description: about,
    schema: {
      type: "string",
      ...(words && { enum: words }),
      ...(idOf && { format: "uuid" }),
    },
  };
}

const HEADERS: Readonly<Record<string, Json>> = {
  "X-Request-Id": {
    description: "identifies this request in the log of the service",
    schema: { type: "string", format: "uuid" },
  },
  "RateLimit-Limit": numberHeader("requests a minute"),
  "RateLimit-Remaining": numberHeader("requests that may be sent now"),
  "RateLimit-Reset": numberHeader(
    "seconds until the burst allowance is full",
  ),
  "RateLimit-Policy": textHeader(
    "the limits by name (draft-ietf-httpapi-ratelimit-headers-11): q is " +
      "the number of requests, w the window in seconds",
  ),
  "RateLimit": textHeader(
    "what is left of each limit (same draft): r is the number of remaining " +
      "requests, t the seconds until all of q are available again",
  ),
  "Retry-After": numberHeader(
    "seconds to wait before the same request is sent again",
  ),
  "Idempotent-Replayed": textHeader(
    "true: the answer to an earlier request with the same Idempotency-Key",
  ),
};

function textHeader(description: string): Json {
  return { description, schema: { type: "string" } };
}

function numberHeader(description: string): Json {
  return { description, schema: { type: "integer" } };
}

/** Headers of an answer, by reference. */
function headers(
  { access }: Pick<Endpoint, "access">,
  ...more: string[]
): Json {
  const quota = Object.keys(HEADERS).filter((name) => /^RateLimit/.test(name));
  const names = [
    "X-Request-Id",
    ...(access === "seller" ? quota : []),
    ...more,
  ];
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** Headers of a 200. */
function answerHeaders(endpoint: Endpoint): Json {
  const more = takesIdempotencyKey(endpoint) ? ["Idempotent-Replayed"] : [];
  return headers(endpoint, ...more);
}

function successes(endpoint: Endpoint, components: Components): Json {
  const { answers, example: ownExample, title, streams } = endpoint;
  if (answers === null) {
    return {
      "204": { description: "Done.", headers: answerHeaders(endpoint) },
    };
  }
  if ("type" in answers) {
    const content = Object.fromEntries(
      // These answers repeat products as their seller sent them. In JSON, such a
      // product may be any object, so it has no schema.
      mediaTypes(answers).map((type) => [type, {
        schema: { type: type === JSON_TYPE ? "object" : "string" },
      }]),
    );
    return {
      "200": { description: title, headers: answerHeaders(endpoint), content },
    };
  }
  const exampleOf = (name: AnswerName) => ownExample ?? ANSWER_EXAMPLES[name];
  return {
    "200": {
      description: title,
      headers: answerHeaders(endpoint),
      content: {
        ...inBothFormats(
          answerSchema(answers, components),
          examples(
            answers,
            (name) => asJson(exampleOf(name), { content: ANSWERS[name] }),
          ),
          examples(answers, exampleOf),
        ),
        ...(streams && {
          "text/event-stream": {
            schema: { type: "string", description: streams },
          },
        }),
      },
    },
  };
}

/**
 * Merges several answers into one object with optional members: from an
 * `anyOf`, generators would take the first schema that fits.
 */
function answerSchema(
  names: readonly AnswerName[],
  components: Components,
): Json {
  const min = names.length > 1 ? { min: 0 } : {};
  return components.shape({
    type: `${names.join("_or_")}_answer`,
    content: names.flatMap((name): readonly Child[] => ANSWERS[name])
      .map((child) => ({ ...child, ...min })),
  });
}

/** The member `examples`, if there are any. */
function examples<N extends string>(
  names: readonly N[],
  valueOf: (name: N) => unknown,
): Json {
  if (names.length === 0) return {};
  const values = names.map((name) => [name, { value: valueOf(name) }]);
  return { examples: Object.fromEntries(values) };
}

function failures(endpoint: Endpoint, components: Components): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(endpoint)) {
    const isConflict = endpoint.conflicts?.includes(code) ?? false;
    const status = isConflict ? CONFLICT_STATUS : ERRORS[code].status;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      `${status}`,
      components.response(
        codes.join("_or_"),
        failure(endpoint, status, codes, components),
      ),
    ]),
  );
}

/** The response of a status with these codes of errors. */
function failure(
  endpoint: Endpoint,
  status: number,
  codes: readonly string[],
  components: Components,
): Json {
  const isHealth = status === 503 && endpoint.isProbe;
  const answers: AnswerName[] = isHealth ? ["health", "error"] : ["error"];
  const shown = status === EXAMPLE_STATUS ? ["error"] : [];
  const { error } = ANSWER_EXAMPLES;
  return {
    description: codes.join(", "),
    headers: headers(
      endpoint,
      ...(RETRY_AFTER_STATUSES.includes(status) ? ["Retry-After"] : []),
    ),
    content: inBothFormats(
      answerSchema(answers, components),
      examples(shown, () => asJson(error, { content: ANSWERS.error })),
      examples(shown, () => error),
    ),
  };
}

/** The status of the example of an error. */
const EXAMPLE_STATUS = 422;

/** Statuses whose answers have a Retry-After. */
const RETRY_AFTER_STATUSES = [409, 429, 503];

/** The requests that the service makes: a webhook for each trigger. */
function webhooks(
  components: Components,
  meanings: readonly TriggerMeaning[],
): Json {
  const shape = DOCUMENTS.delivered_event;
  return Object.fromEntries(meanings.map((meaning) => [meaning.trigger, {
    post: {
      operationId: `on_${meaning.trigger}`,
      summary: `An event ${meaning.trigger}`,
      description:
        `${meaning.about}\n\nSigned as in Standard Webhooks. Answer with ` +
        `any 2xx.`,
      tags: ["webhooks"],
      security: [],
      parameters: ["webhook-id", "webhook-timestamp", "webhook-signature"]
        .map((name) => ({
          name,
          in: "header",
          required: true,
          description: SIGNATURE[name],
          schema: { type: "string" },
        })),
      requestBody: {
        required: true,
        content: inBothFormats(
          components.shape(shape),
          examples(
            ["example"],
            () => JSON.parse(eventInJson(deliveredExample(meaning))),
          ),
          examples(
            ["example"],
            () => eventInXml(deliveredExample(meaning)),
          ),
        ),
      },
      responses: { "2XX": { description: "Delivered." } },
    },
  }]));
}

const SIGNATURE: Readonly<Record<string, string>> = {
  "webhook-id": "the event's id; the same in every attempt",
  "webhook-timestamp": "the time of this attempt, in Unix seconds",
  "webhook-signature":
    "v1, and the HMAC-SHA256 of id.timestamp.body, for each valid secret",
};

/** The body of an image: its bytes, of any declared type. */
const IMAGE_BODY = {
  required: true,
  content: Object.fromEntries(
    ["image/*", "application/octet-stream"].map((type) => [type, {}]),
  ),
};

function operation(endpoint: Endpoint, components: Components): Json {
  const { path, access, sends, parameters = [] } = endpoint;
  const sent = sends && DOCUMENTS[sends.document ?? sends.root];
  const all = [
    ...pathNames(path).map(pathParameter),
    ...parameters.map(parameter),
  ];
  return {
    operationId: endpoint.operation,
    summary: endpoint.title,
    description: endpoint.about,
    tags: [access],
    security: securityOf(endpoint),
    ...(all.length > 0 && { parameters: all }),
    ...(endpoint.sendsImage && { requestBody: IMAGE_BODY }),
    ...(sends && sent && {
      requestBody: {
        required: true,
        content: sentContent(sends, sent, components),
      },
    }),
    responses: {
      ...successes(endpoint, components),
      ...failures(endpoint, components),
    },
  };
}

function sentContent(
  { root, example }: NonNullable<Endpoint["sends"]>,
  shape: Shape,
  components: Components,
): Json {
  const written = jsonWriter({ content: [one(root, shape)] });
  const instance = valueFromXml(encoder.encode(example), shape);
  const json = JSON.parse(written({ [root]: instance } as XmlNode));
  return inBothFormats(
    components.shape(sentShape(root, shape)),
    examples(["example"], () => listedIn(shape) === null ? json[root] : json),
    examples(["example"], () => example),
  );
}

/**
 * The keys that an endpoint accepts. A seller's key needs one of the scopes
 * that allow the request.
 */
function securityOf(
  { access, scope, method, isProbe }: Endpoint,
): readonly Json[] {
  if (isProbe) return [{}, ...SECURITY.operator];
  if (scope === undefined) return SECURITY[access];
  return scopesOf(scope, method).map((name) => ({ seller: [name] }));
}

const SECURITY: Readonly<Record<string, readonly Json[]>> = {
  operator: [{ operator: [] }],
  metrics: [{ metrics: [] }, { operator: [] }],
  public: [],
};

function keyScheme(whose: string): Json {
  return {
    type: "apiKey",
    in: "header",
    name: "X-Service-Auth",
    description: `${whose} key`,
  };
}

/** The description as JSON. */
export function openApi(
  endpoints: readonly Endpoint[],
  version: string,
  meanings: readonly TriggerMeaning[] = DEFAULT_MEANINGS,
): string {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][endpoint.method.toLowerCase()] = operation(
      endpoint,
      components,
    );
  }
  return JSON.stringify({
    openapi: "3.1.0",
    info: {
      title: "Seller interface",
      version,
      contact: { name: "The operator of the marketplace" },
      description:
        "The schemas describe JSON. Without Content-Type and Accept: " +
        "application/json, requests and answers are XML; its schemas are at " +
        "/seller_api/schemas/products-1.1.xsd, attributes-1.1.xsd and " +
        "responses-1.1.xsd.",
    },
    servers: [{ url: "/" }],
    tags: [
      { name: "seller", description: "Requires a seller's key." },
      {
        name: "operator",
        description:
          "With an operator key. The operator can also send every GET of a " +
          "seller, below /operator_api/sellers/{seller}, as in " +
          "/operator_api/sellers/acme/seller_api/products. These requests " +
          "are recorded in the audit log.",
      },
      {
        name: "metrics",
        description:
          "Requires the key of SELLER_METRICS_KEY, or an operator's key.",
      },
      { name: "public", description: "Requires no key." },
      { name: "webhooks", description: "What the service sends to sellers." },
    ],
    paths,
    webhooks: webhooks(components, meanings),
    components: {
      headers: HEADERS,
      securitySchemes: {
        seller: keyScheme("a seller's"),
        operator: keyScheme("the operator's"),
        metrics: {
          type: "http",
          scheme: "bearer",
          description: "the key of SELLER_METRICS_KEY, or an operator key",
        },
      },
      schemas: components.schemas,
      responses: components.responses,
    },
  });
}
