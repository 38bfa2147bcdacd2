/**
 * The possible mutants of a source text: one small change after which it is
 * still a program. The operators are those of StrykerJS that apply, and others
 * for this project: awaits, the order of statements, and SQL.
 */
import ts from "typescript";

export const KINDS = [
  "an await left out",
  "a statement left out",
  "two statements swapped",
  "a branch never taken",
  "a branch always taken",
  "another comparison",
  "&& for ||",
  "a number one off",
  "an empty list",
  "a condition of SQL that always holds",
  "a column of an UPDATE that keeps its value",
] as const;
export type Kind = typeof KINDS[number];

/** Replaces the text from `start` to `end`. */
export interface Mutation {
  kind: Kind;
  start: number;
  end: number;
  to: string;
  /** The line of the start, from 1. */
  line: number;
}

export function mutated(text: string, { start, end, to }: Mutation): string {
  return text.slice(0, start) + to + text.slice(end);
}

/** All mutations of a module, in the order of their places. */
export function mutationsOf(text: string): Mutation[] {
  const file = ts.createSourceFile(
    "module.ts",
    text,
    ts.ScriptTarget.Latest,
    true,
  );
  const found: Mutation[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || IS_LEFT[node.kind] || isTold(node)) return;
    for (const [kind, place, to] of changesOf(node)) {
      const [start, end] = "kind" in place
        ? [place.getStart(file), place.getEnd()]
        : [place.pos, place.end];
      const { line } = file.getLineAndCharacterOfPosition(start);
      found.push({ kind, start, end, to, line: line + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Declarations without behaviour. */
const IS_LEFT: Partial<Record<ts.SyntaxKind, true>> = {
  [ts.SyntaxKind.ImportDeclaration]: true,
  [ts.SyntaxKind.ExportDeclaration]: true,
  [ts.SyntaxKind.InterfaceDeclaration]: true,
  [ts.SyntaxKind.TypeAliasDeclaration]: true,
};

/** A log line, or a place for the simulation: nothing depends on it. */
function isTold(node: ts.Node): boolean {
  return ts.isExpressionStatement(node) &&
    /^(await )?[\w.#]*\b(log\.(error|warn|info|debug)|maybe)\??\.?\(/
      .test(node.getText());
}

type Change = readonly [Kind, ts.Node | ts.TextRange, string];

function* changesOf(node: ts.Node): Iterable<Change> {
  const text = () => node.getText();
  if (ts.isAwaitExpression(node)) {
    if (!isReturned(node)) {
      yield ["an await left out", node, node.expression.getText()];
    }
  } else if (ts.isIfStatement(node)) {
    yield ["a branch never taken", node.expression, "false"];
    yield ["a branch always taken", node.expression, "true"];
  } else if (ts.isConditionalExpression(node)) {
    yield ["a branch never taken", node.condition, "false"];
    yield ["a branch always taken", node.condition, "true"];
  } else if (ts.isBinaryExpression(node)) {
    yield* changesOfOperator(node);
  } else if (ts.isNumericLiteral(node)) {
    if (!isName(node) && !isFactor(node)) {
      yield ["a number one off", node, `(${text()} + 1)`];
      if (text() !== "0") yield ["a number one off", node, `(${text()} - 1)`];
    }
  } else if (ts.isArrayLiteralExpression(node)) {
    const isPattern = ts.isBinaryExpression(node.parent) &&
      node.parent.left === node;
    if (node.elements.length > 0 && !isPattern) {
      yield ["an empty list", node, "[]"];
    }
  } else if (ts.isNewExpression(node)) {
    const { arguments: given = [] } = node;
    if (/^(Set|Map)$/.test(node.expression.getText()) && given.length > 0) {
      yield ["an empty list", node, `new ${node.expression.getText()}()`];
    }
  } else if (
    ts.isTemplateExpression(node) || ts.isStringLiteral(node) ||
    ts.isNoSubstitutionTemplateLiteral(node)
  ) {
    yield* changesOfSql(node);
  }
  if (ts.isBlock(node) || ts.isCaseOrDefaultClause(node)) {
    yield* changesOfStatements(node.statements);
  }
}

/** The caller awaits a returned promise, unless a `try` encloses it. */
function isReturned(node: ts.AwaitExpression): boolean {
  if (ts.isArrowFunction(node.parent)) return true;
  if (!ts.isReturnStatement(node.parent)) return false;
  const around = ts.findAncestor(
    node,
    (one) => ts.isTryStatement(one) || ts.isFunctionLike(one),
  );
  return around === undefined || !ts.isTryStatement(around);
}

/** The name of a member, or a value of an enumeration. */
function isName({ parent }: ts.NumericLiteral): boolean {
  return ts.isPropertyAssignment(parent) && ts.isNumericLiteral(parent.name) ||
    ts.isEnumMember(parent);
}

/**
 * A factor of a size, as in `512 * 1024`: one more or less makes no difference.
 */
function isFactor({ parent }: ts.NumericLiteral): boolean {
  return ts.isBinaryExpression(parent) &&
    parent.operatorToken.kind === ts.SyntaxKind.AsteriskToken;
}

const OTHER: Readonly<Record<string, readonly [Kind, string]>> = {
  "<": ["another comparison", "<="],
  "<=": ["another comparison", "<"],
  ">": ["another comparison", ">="],
  ">=": ["another comparison", ">"],
  "===": ["another comparison", "!=="],
  "!==": ["another comparison", "==="],
  "&&": ["&& for ||", "||"],
  "||": ["&& for ||", "&&"],
};

function* changesOfOperator(
  { operatorToken }: ts.BinaryExpression,
): Iterable<Change> {
  const other = OTHER[operatorToken.getText()];
  if (other !== undefined) yield [other[0], operatorToken, other[1]];
}

function* changesOfStatements(
  statements: readonly ts.Statement[],
): Iterable<Change> {
  for (const [n, statement] of statements.entries()) {
    if (!ts.isExpressionStatement(statement) || isTold(statement)) continue;
    yield ["a statement left out", statement, ""];
    const next = statements[n + 1];
    if (next === undefined || !ts.isExpressionStatement(next)) continue;
    if (isTold(next) || areIndependent(statement, next)) continue;
    const both = { pos: statement.getStart(), end: next.getEnd() };
    const to = `${next.getText()}\n${statement.getText()}`;
    yield ["two statements swapped", both, to];
  }
}

/** Whether neither statement names what the other may change. */
function areIndependent(
  ...both: [ts.ExpressionStatement, ts.ExpressionStatement]
): boolean {
  return both.every((statement, n) => !mayChange(statement, both[1 - n]));
}

/**
 * Whether a statement may change what another one names. An assignment changes
 * its target, and others may see a member of `this` while one awaits. A call
 * may change all that it names, and a method of its own object every member.
 */
function mayChange(
  statement: ts.ExpressionStatement,
  other: ts.ExpressionStatement,
): boolean {
  const target = assignedBy(statement);
  if (target !== null) {
    const isSeenMeanwhile = isOwn(target) && /\bawait\b/.test(other.getText());
    return isSeenMeanwhile || other.getText().includes(target.getText());
  }
  const names = namesIn(statement);
  if (!callsOwnMethod(statement)) names.delete("this");
  return !names.isDisjointFrom(namesIn(other));
}

/** The target of an assignment; null if a statement is another one. */
function assignedBy({ expression }: ts.ExpressionStatement): ts.Node | null {
  if (ts.isPostfixUnaryExpression(expression)) return expression.operand;
  if (!ts.isBinaryExpression(expression)) return null;
  const { kind } = expression.operatorToken;
  const { FirstAssignment, LastAssignment } = ts.SyntaxKind;
  return kind >= FirstAssignment && kind <= LastAssignment
    ? expression.left
    : null;
}

/** Whether a node is a member of `this`. */
function isOwn(node: ts.Node): boolean {
  return ts.isPropertyAccessExpression(node) &&
    node.expression.kind === ts.SyntaxKind.ThisKeyword;
}

function callsOwnMethod(node: ts.Node): boolean {
  if (ts.isFunctionLike(node)) return false;
  return ts.isCallExpression(node) && isOwn(node.expression) ||
    ts.forEachChild(node, (child) => callsOwnMethod(child) || undefined) ===
      true;
}

/** The names in a node, without those in functions, which run later. */
function namesIn(node: ts.Node, names = new Set<string>()): Set<string> {
  if (ts.isFunctionLike(node)) return names;
  const isName = ts.isIdentifier(node) || ts.isPrivateIdentifier(node) ||
    node.kind === ts.SyntaxKind.ThisKeyword;
  if (isName) names.add(node.getText());
  ts.forEachChild(node, (child) => void namesIn(child, names));
  return names;
}

const CONDITION_ENDS =
  /^(AND|OR|ORDER BY|GROUP BY|LIMIT|RETURNING|ON CONFLICT|WHERE|UNION|HAVING)\b/;
const COLUMN_ENDS = /^(WHERE|FROM|RETURNING)\b/;

/** Conditions of a WHERE, and columns of a SET, in an SQL text. */
function* changesOfSql(node: ts.Node): Iterable<Change> {
  const text = node.getText();
  if (!/\b(SELECT|UPDATE|DELETE|INSERT|WHERE)\b/.test(text)) return;
  const from = node.getStart();
  for (const { index, 0: word } of text.matchAll(/\b(WHERE|AND)\s+/g)) {
    const start = index + word.length;
    const end = endOf(text, start, CONDITION_ENDS, false);
    const condition = text.slice(start, end).trimEnd();
    // The AND of a BETWEEN, or one inside an inserted value.
    if (!/[=<>]|\b(IN|IS|EXISTS|BETWEEN|LIKE)\b/.test(condition)) continue;
    const range = { pos: from + start, end: from + start + condition.length };
    const to = `(${condition} OR 1 = 1)`;
    yield ["a condition of SQL that always holds", range, to];
  }
  for (const { index, 0: word } of text.matchAll(/\bSET\s+/g)) {
    for (let start = index + word.length; start < text.length;) {
      const end = endOf(text, start, COLUMN_ENDS, true);
      const column = /^(\w+)\s*=\s*(.+)$/s.exec(
        text.slice(start, end).trimEnd(),
      );
      if (column === null) break;
      const [all, name, value] = column;
      const range = { pos: from + start, end: from + start + all.length };
      const to = `${name} = CASE WHEN 1 = 1 THEN ${name} ELSE ${value} END`;
      yield ["a column of an UPDATE that keeps its value", range, to];
      if (text[end] !== ",") break;
      start = end + 1 + /^\s*/.exec(text.slice(end + 1))![0].length;
    }
  }
}

/** The end of a part of SQL: at a keyword or a comma outside of brackets. */
function endOf(
  text: string,
  start: number,
  words: RegExp,
  atComma: boolean,
): number {
  let depth = 0;
  for (let at = start; at < text.length - 1; at++) {
    const char = text[at];
    if (char === "(" || char === "{") depth++;
    else if ((char === ")" || char === "}") && --depth < 0) return at;
    if (depth > 0) continue;
    if (atComma && char === ",") return at;
    const isWord = at > start && /\W/.test(text[at - 1]);
    if (isWord && words.test(text.slice(at, at + 12))) return at;
  }
  return text.length - 1;
}
