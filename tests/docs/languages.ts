/**
 * The chapter with examples in several languages, as one program for each
 * language.
 */
import { assert, assertEquals } from "@std/assert";
import { boot } from "../support/app.ts";
import { present, run } from "../support/foreign.ts";
import { blocks, chapter } from "../support/handbook.ts";
import { CSHARP_PROJECT, QUICK_JAVA } from "../support/compiled.ts";
import { temporaryFolder } from "../support/process.ts";

const BLOCKS = blocks(chapter("examples"));

/** The blocks of a language, in order. */
function codeOf(language: string): string[] {
  return BLOCKS.filter((block) => block.language === language)
    .map(({ code }) => code);
}

export interface Language {
  name: string;
  /** Whether the language is installed. */
  probe: [string, ...string[]];
  /** Files of the program, by name. */
  files: Record<string, string>;
  run: [string, ...string[]];
}

const [javaClass, ...javaStatements] = codeOf("java");

/** Languages whose programs start at once. */
export const QUICK: Language[] = [
  {
    name: "Python",
    probe: ["python3", "--version"],
    files: { "main.py": codeOf("python").join("") },
    run: ["python3", "main.py"],
  },
  {
    name: "PHP",
    probe: ["php", "--version"],
    files: { "main.php": `<?php\n${codeOf("php").join("")}` },
    run: ["php", "main.php"],
  },
];

/** Languages whose programs are compiled. */
export const SLOW: Language[] = [
  {
    name: "Java",
    probe: ["java", "-version"],
    files: {
      // Java runs the first class of the file.
      "Main.java": javaClass.replace("final class Seller", () =>
        `class Main {
  public static void main(String[] args) throws Exception {
    ${javaStatements.join("")}
  }
}

final class Seller`),
    },
    run: ["java", ...QUICK_JAVA, "Main.java"],
  },
  {
    name: "C#",
    probe: ["dotnet", "--version"],
    files: {
      "main.csproj": CSHARP_PROJECT,
      "Program.cs": codeOf("csharp").join(""),
    },
    run: ["dotnet", "run"],
  },
];

/** A test of each program; prints a message if its language is missing. */
export async function testExamples(
  languages: readonly Language[],
): Promise<void> {
  for (const language of languages) {
    const { name, probe } = language;
    Deno.test({
      name: `the examples in ${name} do what the handbook says`,
      ignore: !await present(`the examples in ${name}`, probe),
      fn: () => checkExamples(language),
    });
  }
}

/** Runs the program on a service. */
async function checkExamples(language: Language): Promise<void> {
  const { files } = language;
  await using folder = await temporaryFolder();
  await using app = await boot();
  for (const [file, code] of Object.entries(files)) {
    const text = code.replaceAll("http://127.0.0.1:8080", app.url)
      .replaceAll(/(["' ])demo(["'])/g, `$1${app.key}$2`);
    await Deno.writeTextFile(`${folder.path}/${file}`, text);
  }
  const [program, ...more] = language.run;
  const { success, text } = await run(program, more, {
    cwd: folder.path,
    env: { NO_COLOR: "1" },
  });
  assert(success, text);
  assertEquals(text.trim().split("\n"), [
    "completed",
    "/products/0/gtin bad_check_digit",
  ]);
  const { text: product } = await app.call("/seller_api/products/JUG-1");
  assert(product.includes("<quantity>12</quantity>"), product);
}
