/** How many requests a host gets at once, depending on how they end. */
import { assertEquals } from "@std/assert";
import { type PacedRequest, Paces, ReservedSlot } from "../../src/net/pace.ts";

const ORIGIN = "https://cdn.example";

/** Fills the host with requests, and ends all of them in this way. */
function round(
  paces: Paces,
  end: (request: PacedRequest, inFlight: number) => void,
): void {
  const requests = Array.from(
    { length: paces.atOnce(ORIGIN) },
    () => paces.begin(ORIGIN),
  );
  for (const request of requests) {
    end(request, requests.length);
    request.ended();
  }
}

const answer = (request: PacedRequest, inFlight: number) => {
  request.accepted();
  request.answered(inFlight);
};

Deno.test("a host gets twice as many requests after each round that it answered, up to the maximum", () => {
  const paces = new Paces(128);
  const seen: number[] = [];
  for (let n = 0; n < 6; n++) {
    seen.push(paces.atOnce(ORIGIN));
    round(paces, answer);
  }
  assertEquals(seen, [8, 16, 32, 64, 128, 128]);
  assertEquals(paces.atOnce("https://other.example"), 8);
  assertEquals(new Paces(4).atOnce(ORIGIN), 4);
});

Deno.test("a round without answers halves the pace once, to at least one; answers double it again", () => {
  const paces = new Paces(128);
  const seen: number[] = [];
  for (let n = 0; n < 5; n++) {
    round(paces, (request) => request.failed());
    seen.push(paces.atOnce(ORIGIN));
  }
  assertEquals(seen, [4, 2, 1, 1, 1]);
  round(paces, answer);
  assertEquals(paces.atOnce(ORIGIN), 2);
  round(paces, answer);
  assertEquals(paces.atOnce(ORIGIN), 4);
});

Deno.test("a host that accepts late gets what it accepted before, and then one more per round", () => {
  const paces = new Paces(128);
  for (let n = 0; n < 3; n++) round(paces, answer);
  const requests = Array.from({ length: 64 }, () => paces.begin(ORIGIN));
  // 64 were accepted in an earlier round, which no longer counts after a
  // reduction.
  requests[63].failed();
  assertEquals(paces.atOnce(ORIGIN), 32);
  for (const request of requests) request.ended();
  const later = Array.from({ length: 32 }, () => paces.begin(ORIGIN));
  for (const request of later.slice(0, 6)) request.accepted();
  later[31].late();
  later[30].late();
  assertEquals(paces.atOnce(ORIGIN), 6);
  for (const request of later) request.ended();
  round(paces, answer);
  assertEquals(paces.atOnce(ORIGIN), 7);
  round(paces, answer);
  assertEquals(paces.atOnce(ORIGIN), 8);
});

Deno.test("single requests do not prove that a host takes many", () => {
  const paces = new Paces(128);
  for (let n = 0; n < 100; n++) {
    const request = paces.begin(ORIGIN);
    request.answered(1);
    request.ended();
  }
  assertEquals(paces.atOnce(ORIGIN), 8);
});

Deno.test("a retried request has a place reserved only from others of its owner", () => {
  const paces = new Paces(128);
  const places = [new ReservedSlot("a"), new ReservedSlot("a")];
  for (const place of places) paces.begin(ORIGIN).failed(place);
  assertEquals(paces.reserved(ORIGIN, "a"), 2);
  assertEquals(paces.reserved(ORIGIN, "b"), 0);
  for (const place of places) assertEquals(place.release(), true);
  assertEquals(places[0].release(), false);
  assertEquals(paces.reserved(ORIGIN, "a"), 0);
});
