"""Checks of Schemathesis that know XML: each answer is valid against the schema
of answers. Read by schemathesis.ts."""

import os

import schemathesis
from lxml import etree

SCHEMA = etree.XMLSchema(etree.parse(os.environ["RESPONSES_XSD"]))


@schemathesis.check
def answer_is_valid_against_its_schema(ctx, response, case):
    media_type = response.headers.get("content-type", [""])[0]
    if not media_type.startswith("text/xml"):
        return
    document = etree.fromstring(response.content)
    if document.tag != "service":
        return
    if not SCHEMA.validate(document):
        raise AssertionError(f"{SCHEMA.error_log.last_error}")
