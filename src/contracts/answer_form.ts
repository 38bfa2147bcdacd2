/** Writes answers as XML or as JSON, from the same nodes. */
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

/** The format of an answer. */
export interface AnswerForm {
  readonly name: "xml" | "json";
  /** The media type, with its charset. */
  readonly type: string;
  /** An empty list for elements of this name, limited to `limit` bytes. */
  list<V extends XmlValue>(name: string, limit: number): ElementList<V>;
  /** The whole answer; `content` is that of `<service>`. */
  document(content: XmlNode): string | EncodedBlocks;
  /** One element of an answer, for an event of a stream. */
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

/** The JSON format for an endpoint with these answers. */
export function jsonForm(answers: readonly AnswerName[]): AnswerForm {
  const form = JSON_FORMS.get(answers) ?? new JsonForm(answers);
  JSON_FORMS.set(answers, form);
  return form;
}

const ERROR_ANSWERS = ["error"] as const;

/** The format of errors, which is the same for every path. */
export function errorForm(name: AnswerForm["name"]): AnswerForm {
  return name === "json" ? jsonForm(ERROR_ANSWERS) : XML_FORM;
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
