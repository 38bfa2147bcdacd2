/**
 * Finds statements that create a promise and neither await it nor say why. This
 * needs types, which `deno lint` does not know. The rule is that of
 * typescript-eslint, `no-floating-promises`: `void`, `catch`, or a `then` with
 * two functions says that nothing waits for the promise.
 */
import ts from "typescript";

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  types: [],
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts"],
};

/** Each as `line: statement`, by file. */
export function floatingPromises(
  files: readonly string[],
): Map<string, string[]> {
  const program = ts.createProgram(files, OPTIONS);
  const checker = program.getTypeChecker();
  const found = new Map<string, string[]>();
  for (const path of files) {
    const file = program.getSourceFile(path)!;
    const visit = (node: ts.Node): void => {
      if (ts.isExpressionStatement(node) && isFloating(node, checker)) {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart());
        const text = node.getText().replaceAll(/\s+/g, " ");
        found.set(path, [...found.get(path) ?? [], `${line + 1}: ${text}`]);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return found;
}

function isFloating(
  { expression }: ts.ExpressionStatement,
  checker: ts.TypeChecker,
): boolean {
  return !isAssignment(expression) && !isHandled(expression) &&
    isPromise(checker.getTypeAtLocation(expression));
}

/** A promise that is stored is awaited elsewhere. */
function isAssignment(node: ts.Expression): boolean {
  if (!ts.isBinaryExpression(node)) return false;
  const { kind } = node.operatorToken;
  return kind >= ts.SyntaxKind.FirstAssignment &&
    kind <= ts.SyntaxKind.LastAssignment;
}

function isHandled(node: ts.Expression): boolean {
  if (!ts.isCallExpression(node)) return false;
  const { expression: called, arguments: given } = node;
  if (!ts.isPropertyAccessExpression(called)) return false;
  const name = called.name.text;
  return name === "catch" || name === "then" && given.length === 2 ||
    name === "finally" && isHandled(called.expression);
}

function isPromise(type: ts.Type): boolean {
  return type.isUnion()
    ? type.types.some(isPromise)
    : type.getSymbol()?.name === "Promise";
}
