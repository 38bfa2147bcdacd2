/** Writes the OpenAPI 3.1 description (https://spec.openapis.org/oas/v3.1.1). */
import { type ErrorCode, ERRORS } from "../lib/errors.ts";
import { type AnswerName, ANSWERS } from "./answers.ts";
import { DOCUMENTS } from "./documents.ts";
import {
  type Endpoint,
  errorsOf,
  type Parameter,
  PATH_PARAMETERS,
} from "./endpoint.ts";
import { scopesOf } from "../sellers/scopes.ts";
import { TRIGGERS } from "../webhooks/trigger.ts";
import { ANSWER_EXAMPLES, deliveredExample } from "./examples.ts";
import { instanceOf } from "../json/instance.ts";
import {
  type Child,
  isText,
  type Shape,
  type TextForm,
} from "../xml/shapes.ts";

type Json = Record<string, unknown>;

const XML = "text/xml";
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

/** An element that may be empty, as a JSON schema. */
function contentSchema(form: TextForm): Json {
  const schema = textSchema(form);
  return form.empty ? { anyOf: [schema, { const: "" }] } : schema;
}

class Components {
  readonly schemas: Record<string, Json> = {};

  shape(shape: Shape): Json {
    const { type } = shape;
    if (type === undefined) return this.#written(shape);
    if (!(type in this.schemas)) {
      this.schemas[type] = {};
      this.schemas[type] = this.#written(shape);
    }
    return { $ref: `#/components/schemas/${type}` };
  }

  #written(shape: Shape): Json {
    const { content } = shape;
    const properties: Json = {};
    const required: string[] = [];
    for (const [name, attribute] of Object.entries(shape.attributes ?? {})) {
      properties[`@${name}`] = {
        ...textSchema(attribute.form),
        ...(attribute.about && { description: attribute.about }),
        xml: { name, attribute: true },
      };
      if (attribute.required) required.push(`@${name}`);
    }
    if (isText(content)) {
      if (shape.attributes === undefined) return contentSchema(content);
      // OpenAPI 3.1 cannot express that this is the element's own text.
      properties["#text"] = contentSchema(content);
      required.push("#text");
      return { type: "object", properties, required };
    }
    for (const child of content) {
      properties[child.name] = this.#child(child);
      if (child.min > 0) required.push(child.name);
    }
    const elements = {
      type: "object",
      properties,
      ...(required.length > 0 && { required }),
    };
    return shape.orText ? { anyOf: [elements, { type: "string" }] } : elements;
  }

  #child(child: Child): Json {
    const schema = this.shape(child.shape);
    const description = child.about && { description: child.about };
    if (child.max === 1) return { ...schema, ...description };
    return {
      type: "array",
      items: schema,
      ...(child.min > 0 && { minItems: child.min }),
      ...(child.max !== Infinity && { maxItems: child.max }),
      ...description,
    };
  }

  service(name: AnswerName): Json {
    return {
      ...this.shape({ content: ANSWERS[name] }),
      xml: { name: "service" },
    };
  }
}

function parameter({ name, about, schema, ...place }: Parameter): Json {
  return {
    name,
    in: place.in ?? "query",
    description: about,
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

/** An example: the instance of its schema, and the document itself. */
function example(xml: string, shape: Shape): Json {
  return {
    description: `As XML:\n\n\`\`\`xml\n${xml}\n\`\`\``,
    value: instanceOf(encoder.encode(xml), shape),
  };
}

const HEADERS: Readonly<Record<string, Json>> = {
  "X-Request-Id": {
    description: "names this request in the log of the service",
    schema: { type: "string", format: "uuid" },
  },
  "RateLimit-Limit": number("requests a minute"),
  "RateLimit-Remaining": number("requests that may be sent at once now"),
  "RateLimit-Reset": number(
    "seconds until all that may be sent at once may be again",
  ),
  "Retry-After": number(
    "seconds to wait before the same request is sent again",
  ),
};

function number(description: string): Json {
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

function answer(endpoint: Endpoint, components: Components): Json {
  const { answers, example: own, title, streams } = endpoint;
  if (answers === null) {
    return { "204": { description: "Done.", headers: headers(endpoint) } };
  }
  if ("type" in answers) {
    const content = { [answers.type]: { schema: { type: "string" } } };
    return {
      "200": { description: title, headers: headers(endpoint), content },
    };
  }
  const schemas = answers.map((name) => components.service(name));
  const examples = Object.fromEntries(
    answers.map((name) => [
      name,
      example(own ?? ANSWER_EXAMPLES[name], { content: ANSWERS[name] }),
    ]),
  );
  const schema = schemas.length === 1 ? schemas[0] : { oneOf: schemas };
  return {
    "200": {
      description: title,
      headers: headers(endpoint),
      content: {
        [XML]: { schema, examples },
        ...(streams && {
          "text/event-stream": {
            schema: { type: "string", description: streams },
          },
        }),
      },
    },
  };
}

function failures(endpoint: Endpoint): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(endpoint)) {
    const status = ERRORS[code].status;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [`${status}`, {
      description: codes.join(", "),
      headers: headers(
        endpoint,
        ...(WAITING.includes(status) ? ["Retry-After"] : []),
      ),
      content: { [XML]: { schema: { $ref: "#/components/schemas/error" } } },
    }]),
  );
}

/** Statuses whose answers have a Retry-After. */
const WAITING = [409, 429, 503];

/** The requests that the service makes: a webhook for each trigger. */
function webhooks(components: Components): Json {
  const shape = DOCUMENTS.delivered_event;
  return Object.fromEntries(TRIGGERS.map((trigger) => [trigger, {
    post: {
      operationId: `on_${trigger}`,
      summary: `An event ${trigger}`,
      description: "Signed as Standard Webhooks says. Any 2xx is delivered.",
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
        content: {
          [XML]: {
            schema: { ...components.shape(shape), xml: { name: "event" } },
            examples: { example: example(deliveredExample(trigger), shape) },
          },
        },
      },
      responses: { "2XX": { description: "Delivered." } },
    },
  }]));
}

const SIGNATURE: Readonly<Record<string, string>> = {
  "webhook-id": "the event's id; the same at every try",
  "webhook-timestamp": "when this try was made, Unix seconds",
  "webhook-signature":
    "v1, and the HMAC-SHA256 of id.timestamp.body, for each secret in force",
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
    ...(sends && sent && {
      requestBody: {
        required: true,
        content: {
          [XML]: {
            schema: {
              ...components.shape(sent),
              xml: { name: sends.root },
            },
            examples: {
              example: example(sends.example, sent),
            },
          },
        },
      },
    }),
    responses: { ...answer(endpoint, components), ...failures(endpoint) },
  };
}

/** The keys that an endpoint accepts, those of sellers with a scope. */
function securityOf({ access, scope, method }: Endpoint): readonly Json[] {
  if (scope === undefined) return SECURITY[access];
  return scopesOf(scope, method).map((one) => ({ seller: [one] }));
}

const SECURITY: Readonly<Record<string, readonly Json[]>> = {
  operator: [{ operator: [] }],
  metrics: [{ metrics: [] }, { operator: [] }],
  public: [],
};

function key(whose: string): Json {
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
): string {
  const components = new Components();
  components.schemas.error = {
    ...components.service("error"),
    examples: [
      instanceOf(encoder.encode(ANSWER_EXAMPLES.error), {
        content: ANSWERS.error,
      }),
    ],
  };
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
      description: "Documents and answers are XML: see the schemas at " +
        "/seller_api/schemas/products-1.1.xsd and " +
        "/seller_api/schemas/responses-1.1.xsd. Properties that begin with @ " +
        "are XML attributes, #text is an element's own text.",
    },
    servers: [{ url: "/" }],
    tags: [
      { name: "seller", description: "With a seller's key." },
      {
        name: "operator",
        description: "With the operator's key. Every GET of a seller is one " +
          "of the operator, too, below /operator_api/sellers/{seller}, as in " +
          "/operator_api/sellers/acme/seller_api/products: read only, and " +
          "in the audit log.",
      },
      {
        name: "metrics",
        description: "With the key of SELLER_METRICS_KEY, or the operator's.",
      },
      { name: "public", description: "Without a key." },
      { name: "webhooks", description: "What the service sends to sellers." },
    ],
    paths,
    webhooks: webhooks(components),
    components: {
      headers: HEADERS,
      securitySchemes: {
        seller: key("a seller's"),
        operator: key("the operator's"),
        metrics: {
          type: "http",
          scheme: "bearer",
          description: "that of SELLER_METRICS_KEY, or an operator's",
        },
      },
      schemas: components.schemas,
    },
  });
}
