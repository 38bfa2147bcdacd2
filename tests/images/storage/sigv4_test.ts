import { assertEquals } from "@std/assert";
import { credentialOf, signatureOf } from "../../support/sigv4.ts";

/** The examples in Amazon's description, "Signature Calculations". */
const SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const EMPTY =
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

function check(
  url: string,
  more: Record<string, string>,
  signed: string,
  signature: string,
): void {
  const headers = new Headers({
    host: "examplebucket.s3.amazonaws.com",
    "x-amz-content-sha256": EMPTY,
    "x-amz-date": "20130524T000000Z",
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request," +
      `SignedHeaders=${signed},Signature=${signature}`,
    ...more,
  });
  const credential = credentialOf(headers)!;
  assertEquals(
    signatureOf({ method: "GET", url, headers }, credential, SECRET),
    signature,
  );
}

Deno.test("the test server checks signatures as Amazon describes them", () => {
  check(
    "https://examplebucket.s3.amazonaws.com/test.txt",
    { range: "bytes=0-9" },
    "host;range;x-amz-content-sha256;x-amz-date",
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
  check(
    "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J",
    {},
    "host;x-amz-content-sha256;x-amz-date",
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  );
});
