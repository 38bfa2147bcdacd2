/** The start of the service, and who can read its files. */
import { assertEquals, assertRejects } from "@std/assert";
import { boot, product, textAt } from "./support/app.ts";
import { ImageHost } from "./support/image_host.ts";

/** Paths below a folder that others than their owner can use. */
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

Deno.test("a process whose port is taken does no work before it exits", async () => {
  const places: string[] = [];
  await assertRejects(
    () =>
      boot({
        config: { roles: ["api", "images", "webhooks"] },
        deps: {
          maybe: (place) => Promise.resolve(void places.push(place)),
        },
        app: {
          listen: () => {
            throw new Deno.errors.AddrInUse("taken on purpose");
          },
        },
      }),
    Deno.errors.AddrInUse,
  );
  assertEquals(places.filter((place) => place.endsWith(" stepped")), []);
});
