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

/** The schema of a text. If the text may be empty, null stands for that. */
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
 * The schema of a text with optional XML attributes. Answers contain only the
 * text, so this is usually the schema of the text, and a generated client can
 * send back what it has read. The description says that an object is accepted,
 * too.
 *
 * If an attribute can be sent without the text, the schema is a union of the
 * text and one object with all attributes. The union has only one object,
 * because generators take the first schema that fits.
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

/**
 * The shared schemas and responses of the description. The schemas are those of
 * JSON; the XSD has those of XML.
 */
class Components {
  readonly schemas: Record<string, Json> = {};
  readonly responses: Record<string, Json> = {};
  /** The names in `responses`, by the response as JSON text. */
  readonly #responseNames = new Map<string, string>();

  /**
   * Adds a response, unless it is there, and returns a reference to it. If
   * another response has this name, the new name ends in a number.
   */
  response(name: string, response: Json): Json {
    const text = JSON.stringify(response);
    const existing = this.#responseNames.get(text);
    const unique = existing ?? this.#uniqueName(name);
    this.#responseNames.set(text, unique);
    this.responses[unique] = response;
    return { $ref: `#/components/responses/${unique}` };
  }

  #uniqueName(name: string): string {
    let unique = name;
    for (let n = 2; unique in this.responses; n++) unique = `${name}_${n}`;
    return unique;
  }

  /** The schema of an element, or a reference to it. `name` is the element's. */
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
    // Only the description says that null is accepted. With null among the
    // types, generators would rename the class.
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
   * Adds a member for each element. A list becomes an array; the other elements
   * inside the list's element become members next to the array.
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
 * first format. XML has no schema here, but in the XSD.
 */
function inBothFormats(schema: Json, json: Json, xml: Json): Json {
  return {
    [JSON_TYPE]: { schema, ...json },
    [XML]: { schema: { type: "string", contentMediaType: XML }, ...xml },
  };
}

/**
 * The shape of a request body in JSON: an object with the members of the root
 * element or, for a list, with the list as its only member.
 */
function sentShape(root: string, shape: Shape): Shape {
  return listedIn(shape) === null ? shape : { content: [one(root, shape)] };
}

/** Converts an XML document of this shape to JSON. */
export function asJson(xml: string, shape: Shape): unknown {
  const instance = valueFromXml(encoder.encode(xml), shape);
  return JSON.parse(jsonWriter(shape)(instance as XmlValue));
}

function parameter(
  { name, about, schema, required, in: location = "query" }: Parameter,
): Json {
  return {
    name,
    in: location,
    description: about,
    ...(required && { required }),
    schema: schema ?? { type: "string" },
  };
}

/** The names of the parameters in a path. */
export function pathParameterNames(path: string): string[] {
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
      "the number of requests in a window, w the window in seconds",
  ),
  "RateLimit": textHeader(
    "what is left of each limit (same draft): r is the number of remaining " +
      "requests, t the seconds until r is q again",
  ),
  "Retry-After": numberHeader(
    "seconds to wait before sending the same request again",
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

/** References to the headers of an answer. */
function headers(
  { access }: Pick<Endpoint, "access">,
  ...more: string[]
): Json {
  const rateLimits = Object.keys(HEADERS)
    .filter((name) => /^RateLimit/.test(name));
  const names = [
    "X-Request-Id",
    ...(access === "seller" ? rateLimits : []),
    ...more,
  ];
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** References to the headers of a successful answer. */
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
      // These answers contain products as the seller sent them. In JSON, such a
      // product may be any object, so there is no schema.
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
 * The schema of an answer. Several answers become one object with optional
 * members: with an `anyOf`, generators would take the first schema that fits.
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

/** An object with the member `examples`, or an empty one without names. */
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

/** The response with this status, for errors with these codes. */
function failure(
  endpoint: Endpoint,
  status: number,
  codes: readonly string[],
  components: Components,
): Json {
  const hasHealth = status === 503 && endpoint.isProbe;
  const answers: AnswerName[] = hasHealth ? ["health", "error"] : ["error"];
  const exampleNames = status === EXAMPLE_STATUS ? ["error"] : [];
  const { error } = ANSWER_EXAMPLES;
  return {
    description: codes.join(", "),
    headers: headers(
      endpoint,
      ...(RETRY_AFTER_STATUSES.includes(status) ? ["Retry-After"] : []),
    ),
    content: inBothFormats(
      answerSchema(answers, components),
      examples(exampleNames, () => asJson(error, { content: ANSWERS.error })),
      examples(exampleNames, () => error),
    ),
  };
}

/** The only status whose response has an example. */
const EXAMPLE_STATUS = 422;

/** Statuses whose answers have the header Retry-After. */
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
      summary: `Delivery of ${meaning.trigger}`,
      description:
        `${meaning.about}\n\nThe request is signed as Standard Webhooks ` +
        `requires. Answer with any 2xx.`,
      tags: ["webhooks"],
      security: [],
      parameters: ["webhook-id", "webhook-timestamp", "webhook-signature"]
        .map((name) => ({
          name,
          in: "header",
          required: true,
          description: SIGNATURE_HEADERS[name],
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

const SIGNATURE_HEADERS: Readonly<Record<string, string>> = {
  "webhook-id": "the event's id; the same in every attempt",
  "webhook-timestamp": "the time of this attempt, in Unix seconds",
  "webhook-signature":
    "for each valid secret: `v1,` and the HMAC-SHA256 of id.timestamp.body " +
    "in Base64; separated by spaces",
};

/** The request body of an image upload; the service ignores its media type. */
const IMAGE_BODY = {
  required: true,
  content: Object.fromEntries(
    ["image/*", "application/octet-stream"].map((type) => [type, {}]),
  ),
};

function operation(endpoint: Endpoint, components: Components): Json {
  const { path, access, sends, parameters = [] } = endpoint;
  const sentDocument = sends && DOCUMENTS[sends.document ?? sends.root];
  const allParameters = [
    ...pathParameterNames(path).map(pathParameter),
    ...parameters.map(parameter),
  ];
  return {
    operationId: endpoint.operation,
    summary: endpoint.title,
    description: endpoint.about,
    tags: [access],
    security: securityOf(endpoint),
    ...(allParameters.length > 0 && { parameters: allParameters }),
    ...(endpoint.sendsImage && { requestBody: IMAGE_BODY }),
    ...(sends && sentDocument && {
      requestBody: {
        required: true,
        content: sentContent(sends, sentDocument, components),
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
  const write = jsonWriter({ content: [one(root, shape)] });
  const instance = valueFromXml(encoder.encode(example), shape);
  const json = JSON.parse(write({ [root]: instance } as XmlNode));
  return inBothFormats(
    components.shape(sentShape(root, shape)),
    examples(["example"], () => listedIn(shape) === null ? json[root] : json),
    examples(["example"], () => example),
  );
}

/**
 * The keys that an endpoint accepts. A seller's key must have one of the scopes
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

function keyScheme(description: string): Json {
  return {
    type: "apiKey",
    in: "header",
    name: "X-Service-Auth",
    description,
  };
}

/** Writes the OpenAPI description as JSON. */
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
        "application/json, requests and answers are XML. The XML schemas are " +
        "/seller_api/schemas/products-1.1.xsd, attributes-1.1.xsd and " +
        "responses-1.1.xsd.",
    },
    servers: [{ url: "/" }],
    tags: [
      { name: "seller", description: "Requires a seller's key." },
      {
        name: "operator",
        description:
          "Requires an operator key. Every GET request of a seller is also " +
          "available to the operator, below /operator_api/sellers/{seller}, " +
          "as in /operator_api/sellers/acme/seller_api/products. The audit " +
          "log records these requests.",
      },
      {
        name: "metrics",
        description:
          "Requires the key of SELLER_METRICS_KEY, or an operator key.",
      },
      { name: "public", description: "Requires no key." },
      {
        name: "webhooks",
        description: "Requests from the service to sellers.",
      },
    ],
    paths,
    webhooks: webhooks(components, meanings),
    components: {
      headers: HEADERS,
      securitySchemes: {
        seller: keyScheme("a seller's key"),
        operator: keyScheme("an operator key"),
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
