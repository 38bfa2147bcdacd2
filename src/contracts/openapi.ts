/** Writes the OpenAPI 3.1 description (https://spec.openapis.org/oas/v3.1.1). */
import { ERROR_STATUS, type ErrorCode } from "../lib/errors.ts";
import { type AnswerName, ANSWERS } from "./answers.ts";
import { DOCUMENTS } from "./documents.ts";
import {
  type Endpoint,
  errorsOf,
  type Parameter,
  PATH_PARAMETERS,
} from "./endpoint.ts";
import { ANSWER_EXAMPLES } from "./examples.ts";
import { type Child, isText, type Shape, type TextForm } from "./shapes.ts";

type Json = Record<string, unknown>;

const XML = "text/xml";

function textSchema(form: TextForm): Json {
  switch (form.kind) {
    case "line":
      return { type: "string", maxLength: form.max };
    case "text":
      return { type: "string", maxLength: form.max };
    case "integer":
      return { type: "integer", minimum: 0, maximum: form.max };
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
  }
}

/** An element that may be empty, in the terms of JSON. */
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
      // OpenAPI 3.1 has no way to say that this is the element's own text.
      properties["#text"] = contentSchema(content);
      required.push("#text");
      return { type: "object", properties, required };
    }
    for (const child of content) {
      properties[child.name] = this.#child(child);
      if (child.min > 0) required.push(child.name);
    }
    return {
      type: "object",
      properties,
      ...(required.length > 0 && { required }),
    };
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

function answer(endpoint: Endpoint, components: Components): Json {
  const { answers, example } = endpoint;
  if (answers === null) return { "204": { description: "Done." } };
  if ("type" in answers) {
    const content = { [answers.type]: {} };
    return { "200": { description: endpoint.title, content } };
  }
  const schemas = answers.map((name) => components.service(name));
  const examples = Object.fromEntries(
    answers.map((name) => [name, { value: example ?? ANSWER_EXAMPLES[name] }]),
  );
  const schema = schemas.length === 1 ? schemas[0] : { oneOf: schemas };
  return {
    "200": {
      description: endpoint.title,
      content: { [XML]: { schema, examples } },
    },
  };
}

function failures(endpoint: Endpoint): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(endpoint)) {
    const status = ERROR_STATUS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [`${status}`, {
      description: codes.join(", "),
      content: { [XML]: { schema: { $ref: "#/components/schemas/error" } } },
    }]),
  );
}

function operation(endpoint: Endpoint, components: Components): Json {
  const { path, access, sends, parameters = [] } = endpoint;
  const all = [
    ...pathNames(path).map(pathParameter),
    ...parameters.map(parameter),
  ];
  return {
    operationId: endpoint.operation,
    summary: endpoint.title,
    description: endpoint.about,
    tags: [access],
    security: access === "public" ? [] : [{ [access]: [] }],
    ...(all.length > 0 && { parameters: all }),
    ...(sends && {
      requestBody: {
        required: true,
        content: {
          [XML]: {
            schema: {
              ...components.shape(DOCUMENTS[sends.root]),
              xml: { name: sends.root },
            },
            examples: { example: { value: sends.example } },
          },
        },
      },
    }),
    responses: { ...answer(endpoint, components), ...failures(endpoint) },
  };
}

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
    examples: [ANSWER_EXAMPLES.error],
  };
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)\??/g, "{$1}");
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
      description: "Documents and answers are XML: see the schemas at " +
        "/seller_api/schemas/products-1.1.xsd and " +
        "/seller_api/schemas/responses-1.1.xsd. Properties that begin with @ " +
        "are XML attributes, #text is an element's own text.",
    },
    servers: [{ url: "/" }],
    tags: [
      { name: "seller", description: "With a seller's key." },
      { name: "operator", description: "With the operator's key." },
      { name: "public", description: "Without a key." },
    ],
    paths,
    components: {
      securitySchemes: {
        seller: key("a seller's"),
        operator: key("the operator's"),
      },
      schemas: components.schemas,
    },
  });
}
