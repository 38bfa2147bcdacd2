/** `deno task abuse` covers each route with its largest inputs. */
import { assertEquals } from "@std/assert";
import { ROUTES } from "../../src/http/routes.ts";
import { nameOf, ROUTE_INPUTS } from "./route_inputs.ts";

Deno.test("the table of inputs has every route and nothing else", () => {
  const withInputs = Object.entries(ROUTE_INPUTS)
    .filter(([, inputs]) => inputs.length > 0).map(([name]) => name);
  assertEquals(withInputs.sort(), ROUTES.map(nameOf).sort());
});
