/** The values of settings. */
import { assertEquals, assertThrows } from "@std/assert";
import {
  parseSigningSecret,
  SettingError,
} from "../../src/lib/setting_values.ts";

Deno.test("a signing secret has 24 to 64 bytes, with or without its prefix", () => {
  for (let bytes = 0; bytes <= 70; bytes++) {
    const base64 = new Uint8Array(bytes).fill(0xa5).toBase64();
    for (const sent of [base64, `whsec_${base64}`]) {
      const parse = () => parseSigningSecret(sent);
      if (bytes >= 24 && bytes <= 64) {
        assertEquals(parse(), `whsec_${base64}`, `${bytes} bytes`);
      } else if (sent !== "") {
        assertThrows(parse, SettingError, "24 to 64 random bytes");
      }
    }
  }
  assertEquals(parseSigningSecret(""), null, "not set");
});
