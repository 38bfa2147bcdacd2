/** Validates documents against the published schemas, with libxml2. */
import { XmlDocument, XsdValidator } from "libxml2-wasm";
import { productsSchema, responsesSchema } from "../../src/contracts/xsd.ts";

/** The error of a document against a schema; null if it is valid. */
export type Validate = (document: string) => string | null;

function validator(schema: string): Validate {
  using source = XmlDocument.fromString(schema);
  const validator = XsdValidator.fromDoc(source);
  return (text) => {
    try {
      using document = XmlDocument.fromString(text);
      validator.validate(document);
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
}

export const validateProducts = validator(productsSchema());
export const validateResponse = validator(responsesSchema());
