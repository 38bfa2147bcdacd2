/** The structure of documents for the decoder and the encoder. */

/** `markup`: elements and text, as source. `orNull`: null where it is empty. */
export interface Text {
  readonly text: "string" | "number" | "boolean" | "markup";
  readonly orNull?: true;
}

export const TEXT: Text = { text: "string" };
export const TEXT_OR_NULL: Text = { text: "string", orNull: true };
export const NUMBER: Text = { text: "number" };
export const NUMBER_OR_NULL: Text = { text: "number", orNull: true };
export const BOOLEAN: Text = { text: "boolean" };
export const MARKUP: Text = { text: "markup" };

/** Text with attributes: an object in which the text has a name. */
export interface AttributedText {
  readonly text: Text["text"];
  readonly orNull?: true;
  readonly name: string;
  readonly attributes: Attributes;
  /** The text alone may stand for the object. */
  readonly plain?: true;
}

/** Elements, each under its name. */
export interface Elements {
  readonly elements: Readonly<Record<string, Shape | Repeated>>;
  readonly attributes?: Attributes;
  /** May hold text instead of its elements. */
  readonly orText?: true;
}

/** Elements of one name in an element of their own: an array. */
export interface List {
  readonly list: string;
  readonly of: Shape;
}

/** An element that may be repeated: an array. */
export interface Repeated {
  readonly repeated: Shape;
}

export type Shape = Text | AttributedText | Elements | List;

export type Attributes = Readonly<Record<string, Text>>;

/** A row of the table of operations. */
export interface Operation {
  /** GET when left out. */
  readonly method?: "POST" | "PUT" | "DELETE";
  /** `:name` is a parameter. */
  readonly path: string;
  /** The root of the document that is sent. */
  readonly sends?: string;
  /** It takes an Idempotency-Key. */
  readonly keyed?: true;
  /** The key goes into `Authorization`. */
  readonly bearer?: true;
  /** The content of `<service>`; otherwise the body, null for none. */
  readonly answer: Elements["elements"] | "text" | "blob" | null;
  /** The list in the answer, if it comes in pages. */
  readonly pages?: string;
}
