import { assertEquals } from "@std/assert";
import { ImageBench } from "../support/image_bench.ts";
import { ImageHost } from "../support/image_host.ts";

Deno.test("images: each type arrives, named by its content", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  bench.startRole();
  const names = ["a.png", "a.jpg", "a.gif", "a.webp", "a.avif"];
  const id = await bench.upload(
    names.map((name) => `${host.url}/good/${name}`),
  );
  assertEquals(await bench.finished(id), {
    pending: 0,
    stored: 5,
    reused: 0,
    failed: 0,
  });
});
