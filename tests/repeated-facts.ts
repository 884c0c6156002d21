/**
 * Limits, prices and closed sets that are written a second time, outside of the kernel. What is looked for: bounds in
 * schemas and inputs, quantities in sentences, and lists or unions of the same words. That a constant has the number of
 * a limit means nothing.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as kernelLifetimes from '../src/kernel/facts/lifetimes.ts';
import * as kernelLimits from '../src/kernel/facts/limits.ts';
import * as kernelPlans from '../src/kernel/facts/plans.ts';
import * as kernelPasswordRules from '../src/service/sign-in/validate.ts';
import { type Node, parse, placeOf, type Source, visit } from './syntax.ts';

const TABLES = [kernelLimits, kernelLifetimes, kernelPlans, kernelPasswordRules];

const FACTS_FOLDER = join(import.meta.dirname, '../src/kernel/facts');
const factModules: readonly Readonly<Record<string, unknown>>[] = await Promise.all(
  readdirSync(FACTS_FOLDER)
    .filter((name) => !name.endsWith('.test.ts'))
    .map((name) => import(pathToFileURL(join(FACTS_FOLDER, name)).href)),
);

/** Every number in a table, at whatever depth. */
const numbersIn = (value: unknown): number[] =>
  typeof value === 'number'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(numbersIn)
      : [];
const FACTS = new Set(TABLES.flatMap(numbersIn));
const wordsOf = (set: readonly unknown[]): string => [...set].map(String).sort().join(' ');

/** The words of a list, or of the keys of a table with a row for each; null: it is neither. */
function wordsIn(value: unknown): readonly string[] | null {
  if (typeof value !== 'object' || value === null) return null;
  const words: readonly unknown[] = Array.isArray(value)
    ? value
    : Object.values(value).some((row) => typeof row === 'number')
      ? []
      : Object.keys(value);
  return words.length > 1 && words.every((word) => typeof word === 'string') ? words : null;
}
/** By their words: what has the name. A list comes before a table that has a row for each of its words. */
const CLOSED_SETS = new Map<string, string>();
for (const [name, value] of factModules.flatMap((module) => Object.entries(module))) {
  const words = wordsIn(value);
  if (words !== null && (Array.isArray(value) || !CLOSED_SETS.has(wordsOf(words))))
    CLOSED_SETS.set(wordsOf(words), name);
}

const BOUND = /^(min|max)(imum|Length|Items)$/;
const QUANTITY = /(?<![\d.,-])(\d[\d,]*)[ -](characters|credits|days|hours|minutes|KiB|MiB|lines)\b/g;

/** As `path:line: what`. */
export function repeatedFacts(source: Source): string[] {
  const found: string[] = [];
  const say = (node: Node, what: string) => found.push(`${placeOf(source, node)}: ${what}`);
  visit(parse(source), (node, parent) => {
    const set = closedSetOf(node);
    if (set !== undefined) say(node, `the words of ${set}`);
    for (const quantity of quantitiesIn(node)) say(node, `"${quantity}" in a sentence`);
    const [name, value] = namedNumber(node, parent);
    if (value !== null && BOUND.test(name) && Math.abs(value) > 1) say(node, `${name}: ${value}`);
  });
  return found;
}

/** Of a number, or a product or negation of numbers: `16 * 1024`. */
function numberOf(node: Node): number | null {
  if (node.type === 'Literal') return typeof node.value === 'number' ? node.value : null;
  if (node.type === 'UnaryExpression' && node.operator === '-') {
    const value = numberOf(node.argument as Node);
    return value === null ? null : -value;
  }
  if (node.type !== 'BinaryExpression' || node.operator !== '*') return null;
  const [left, right] = [numberOf(node.left as Node), numberOf(node.right as Node)];
  return left === null || right === null ? null : left * right;
}

/** A number, and the name of the constant, property or attribute that has it. */
function namedNumber(node: Node, parent: Node | null): [name: string, value: number | null] {
  if (node.type === 'JSXAttribute') {
    const value = (node.value as { expression?: Node } | null)?.expression;
    return [nameOf(node.name), value === undefined ? null : numberOf(value)];
  }
  // A part of a product, a number of bytes in a unit, or the value of an attribute, which has its name.
  const isPart = parent?.type === 'BinaryExpression' && (parent.operator === '*' || parent.operator === '/');
  if (parent === null || isPart || ['UnaryExpression', 'JSXExpressionContainer'].includes(parent.type))
    return ['', null];
  const name = parent.type === 'VariableDeclarator' ? parent.id : parent.type === 'Property' ? parent.key : undefined;
  return [nameOf(name), numberOf(node)];
}

const nameOf = (node: unknown): string => String((node as { name?: unknown } | undefined)?.name ?? '');

function closedSetOf(node: Node): string | undefined {
  const parts = node.type === 'ArrayExpression' ? node.elements : node.type === 'TSUnionType' ? node.types : undefined;
  if (!Array.isArray(parts)) return undefined;
  const words = parts.map((part: Node | null) => {
    const literal = part?.type === 'TSLiteralType' ? (part.literal as Node) : part;
    return literal?.type === 'Literal' ? literal.value : undefined;
  });
  return words.every((word) => typeof word === 'string') ? CLOSED_SETS.get(wordsOf(words)) : undefined;
}

function quantitiesIn(node: Node): string[] {
  const text =
    node.type === 'Literal' || node.type === 'JSXText'
      ? node.value
      : node.type === 'TemplateElement'
        ? (node.value as { raw: string }).raw
        : null;
  if (typeof text !== 'string') return [];
  return [...text.matchAll(QUANTITY)]
    .filter(([, n = '']) => Number(n.replaceAll(',', '')) > 1 && FACTS.has(Number(n.replaceAll(',', ''))))
    .map(([all]) => all);
}
