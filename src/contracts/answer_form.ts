/** The two forms of answers: XML, and JSON of the same nodes. */
import {
  type Encode,
  type EncodeMember,
  jsonWriter,
  memberEncoders,
  writeObject,
} from "../json/encode.ts";
import {
  documentOf,
  element,
  ElementList,
  type EncodedBlocks,
  serviceDocument,
  type XmlNode,
  type XmlValue,
} from "../xml/encode.ts";
import { type Child, repeatedIn } from "../xml/shapes.ts";
import { type AnswerName, ANSWERS } from "./answers.ts";

/** How answers are written. */
export interface AnswerForm {
  readonly name: "xml" | "json";
  /** The media type, with its charset. */
  readonly type: string;
  /** A list of elements of this name, up to a number of bytes. */
  list<V extends XmlValue>(name: string, limit: number): ElementList<V>;
  /** The whole answer; `content` is that of `<service>`. */
  document(content: XmlNode): string | EncodedBlocks;
  /** One element of an answer, as an event of a stream shows it. */
  element(name: string, value: XmlValue): string;
}

export const XML_FORM: AnswerForm = {
  name: "xml",
  type: "text/xml; charset=utf-8",
  list: (name, limit) =>
    new ElementList(limit, (value) => element(name, value)),
  document: serviceDocument,
  element,
};

const JSON_FORMS = new WeakMap<readonly AnswerName[], AnswerForm>();

/** The JSON of an endpoint that has these answers. */
export function jsonForm(answers: readonly AnswerName[]): AnswerForm {
  const made = JSON_FORMS.get(answers) ?? new JsonForm(answers);
  JSON_FORMS.set(answers, made);
  return made;
}

const ERROR = ["error"] as const;

/**
 * The form of errors, the same on every route and for paths without a route.
 */
export function errorForm(name: AnswerForm["name"]): AnswerForm {
  return name === "json" ? jsonForm(ERROR) : XML_FORM;
}

class JsonForm implements AnswerForm {
  readonly name = "json";
  readonly type = "application/json";
  readonly #members: ReadonlyMap<string, EncodeMember>;
  readonly #items: ReadonlyMap<string, Encode>;

  constructor(answers: readonly AnswerName[]) {
    const children = answers.flatMap((name): readonly Child[] => ANSWERS[name]);
    this.#members = memberEncoders(children);
    this.#items = new Map(
      children.flatMap(repeatedIn)
        .map(({ name, shape }) => [name, jsonWriter(shape)]),
    );
  }

  list<V extends XmlValue>(name: string, limit: number): ElementList<V> {
    return new ElementList<V>(limit, this.#items.get(name)!, ",");
  }

  document(content: XmlNode): string | EncodedBlocks {
    return documentOf((longLists) =>
      writeObject(this.#members, content, longLists)
    );
  }

  element(name: string, value: XmlValue): string {
    return writeObject(this.#members, { [name]: value });
  }
}
