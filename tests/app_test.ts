/** Who can read what the service keeps. */
import { assertEquals } from "@std/assert";
import { boot, product, textAt } from "./support/app.ts";
import { ImageHost } from "./support/image_host.ts";

/** Paths below a folder that not only their owner can use. */
function sharedPaths(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    const { mode } = Deno.statSync(path);
    const shared = (mode! & 0o077) === 0 ? [] : [path];
    return isDirectory ? [...shared, ...sharedPaths(path)] : shared;
  });
}

Deno.test("only the user of the service can read the database, the locks and the images", async () => {
  await using host = new ImageHost();
  await using app = await boot({
    config: { roles: ["api", "images", "webhooks"] },
  });
  const images = `<images><image>${host.url}/good/a.png</image></images>`;
  const uploaded = await app.upload(product("A", images));
  const status = await app.status(uploaded, "?wait=30");
  assertEquals(textAt(status, "images/stored"), "1");
  assertEquals(sharedPaths(app.config.dataDir), []);
});
