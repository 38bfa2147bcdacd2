/** A bill of materials of the program (CycloneDX 1.6, https://cyclonedx.org). */
import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";

export interface Package {
  name: string;
  version: string;
}

/** The used part of the answer of `deno info --json`. */
interface Info {
  modules: { npmPackage?: string }[];
  npmPackages: Record<string, Package & { dependencies: string[] }>;
}

/** The npm packages that the program uses, with their dependencies. */
export async function packagesOf(folder: string): Promise<Package[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "main.ts"],
    cwd: folder,
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!success) throw new Error(decode(stderr));
  const { modules, npmPackages }: Info = JSON.parse(decode(stdout));
  const used = new Set<string>();
  const add = (id: string) => {
    if (used.has(id)) return;
    used.add(id);
    npmPackages[id].dependencies.forEach(add);
  };
  for (const { npmPackage } of modules) if (npmPackage) add(npmPackage);
  return [...used].sort().map((id) => {
    const { name, version } = npmPackages[id];
    return { name, version };
  });
}

/** The bill as JSON, for a program with these packages and this runtime. */
export function billOfMaterials(
  { name, version }: Package,
  packages: readonly Package[],
  runtime: readonly Package[],
): string {
  const { Application, Library, Platform } = Enums.ComponentType;
  const bom = new Models.Bom();
  bom.metadata.component = new Models.Component(Application, name, {
    version,
    bomRef: name,
  });
  for (const { name, version } of packages) {
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    bom.components.add(
      new Models.Component(Library, name, { version, purl, bomRef: purl }),
    );
  }
  for (const { name, version } of runtime) {
    bom.components.add(
      new Models.Component(Platform, name, { version, bomRef: name }),
    );
  }
  const serializer = new Serialize.JsonSerializer(
    new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6),
  );
  return serializer.serialize(bom, { space: 2, sortLists: true });
}
