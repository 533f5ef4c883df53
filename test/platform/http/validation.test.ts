/**
 * Every field of every operation's input is replaced by every kind of wrong value. The refusal must name the path, what
 * arrived, and what was expected. The cases are derived from the schemas, so new operations are covered automatically.
 */
import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/platform/http/interface/fields.js';
import type { Binding, Operation } from '../../../src/platform/http/interface/operation.js';
import { operations } from '../../../src/service/operations.js';
import { stays } from '../../engine/world.js';
import { inlined } from '../../service/contract/json-fields.js';
import { bearerOf } from './requests.js';
import { createSample } from './sample.js';

type Node = Readonly<Record<string, unknown>>;
type AnyBinding = Binding<unknown, unknown>;
type Step = string | number;
type Place = { readonly path: readonly Step[]; readonly node: Node };

const { dispatch } = await createSample();

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
const formsOf = (node: Node): readonly Node[] => [node.anyOf ?? node.oneOf ?? []].flat().filter(isNode);
const propertiesOf = (node: Node): readonly (readonly [string, Node])[] =>
  Object.entries(isNode(node.properties) ? node.properties : {}).flatMap(([name, inner]) =>
    isNode(inner) ? [[name, inner] as const] : [],
  );

/** A valid value of the schema with all its fields. */
const wholeOf = (node: Node): unknown => {
  const [form] = formsOf(node);
  if (form !== undefined) return wholeOf(form);
  if (node.const !== undefined) return node.const;
  if (Array.isArray(node.enum)) return node.enum[0];
  if (node.type === 'array') return isNode(node.items) ? [wholeOf(node.items)] : [];
  if (node.type === 'object') {
    const fixed = propertiesOf(node).map(([name, inner]) => [name, wholeOf(inner)] as const);
    const free = isNode(node.additionalProperties) ? [['free', wholeOf(node.additionalProperties)] as const] : [];
    return Object.fromEntries([...fixed, ...free]);
  }
  if (node.type === 'string') return '1';
  if (node.type === 'boolean') return true;
  if (node.type === 'null') return null;
  return Math.max(1, Number(node.minimum ?? 1));
};

/**
 * The paths inside a value of the schema. Values in a union are not changed separately, since their faults depend on
 * the alternative.
 */
const placesOf = (node: Node, value: unknown, path: readonly Step[] = []): readonly Place[] => {
  if (formsOf(node).length > 0 || value === undefined) return [];
  const inner = Array.isArray(value)
    ? isNode(node.items) && value.length > 0
      ? placesOf(node.items, value[0], [...path, 0])
      : []
    : isNode(value)
      ? propertiesOf(node).flatMap(([name, member]) => placesOf(member, value[name], [...path, name]))
      : [];
  return [{ path, node }, ...inner];
};

const withAt = (value: unknown, [step, ...rest]: readonly Step[], by: unknown): unknown => {
  if (step === undefined) return by;
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? withAt(item, rest, by) : item));
  const object = isNode(value) ? value : {};
  const copy = { ...object };
  Object.defineProperty(copy, String(step), {
    value: withAt(object[String(step)], rest, by),
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return copy;
};

const written = (path: readonly Step[]): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');

type Fault = {
  readonly what: string;
  readonly path: readonly Step[];
  readonly by: unknown;
  readonly says: readonly string[];
};

const isPlainText = (node: Node): boolean =>
  node.type === 'string' && node.enum === undefined && node.const === undefined;

const textFaults = ({ path, node }: Place): readonly Fault[] => {
  const fault = (what: string, by: unknown, ...says: readonly string[]): Fault => ({ what, path, by, says });
  const max = Number(node.maxLength);
  return [
    fault('a number', 7, 'expected a string'),
    fault('an array', ['1', '1'], 'got an array of 2 items', 'expected a string'),
    ...(Number(node.minLength ?? 0) > 0 ? [fault('an empty text', '', 'expected at least 1 character')] : []),
    fault('a text beyond its limit', 'x'.repeat(max + 1), `expected at most ${max} characters`),
    ...(node.pattern === undefined || node.format !== undefined
      ? []
      : [fault('half a surrogate pair', 'a\ud800', 'expected'), fault('NUL', 'a\0b', 'expected')]),
    ...(max === limits.nameLength && node.pattern !== undefined
      ? [fault('a control character', 'a\u0007b', 'text without control characters')]
      : []),
  ];
};

const faultsAt = (place: Place): readonly Fault[] => {
  const { path, node } = place;
  if (isPlainText(node)) return textFaults(place);
  const fault = (what: string, by: unknown, says: string): Fault => ({ what, path, by, says: [says] });
  if (node.type === 'array') {
    const items = Array.from({ length: Number(node.maxItems) + 1 }, () =>
      wholeOf(isNode(node.items) ? node.items : {}),
    );
    return [
      fault('a text', 'x', 'expected an array'),
      ...(items.length <= 2001 ? [fault('too many items', items, `at most ${node.maxItems} items`)] : []),
    ];
  }
  if (node.type === 'object') {
    const unknown = (name: string): Fault => ({
      what: `a member ${name}`,
      path: [...path, name],
      by: 'x',
      says: ['not a field of this operation'],
    });
    const isOpen = isNode(node.additionalProperties) || node.additionalProperties === true;
    return [
      ...(path.length === 0 ? [] : [fault('a text', 'x', 'expected an object')]),
      unknown('__proto__'),
      ...(isOpen ? [] : [unknown('noSuchField')]),
    ];
  }
  if (node.type === 'boolean')
    return [fault('a text', 'yes', node.const === undefined ? 'expected a boolean' : 'expected')];
  if (node.type === 'number' || node.type === 'integer') return [fault('a text', '1x', 'expected a')];
  if (Array.isArray(node.enum)) return [fault('another word', 'no-such-word', 'expected')];
  return [];
};

type Case = {
  readonly operation: Operation;
  readonly binding: AnyBinding;
  readonly schema: Node;
  /** The schema of the input, including the fields of the path. */
  readonly whole: Node;
};

const inPath = ({ path }: AnyBinding): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

const without = (value: unknown, names: readonly string[]): unknown =>
  isNode(value) ? withMembers(Object.entries(value).filter(([name]) => !names.includes(name))) : value;

const withMembers = (entries: readonly (readonly [string, unknown])[]): unknown =>
  entries.reduce<unknown>((object, [name, value]) => withAt(object, [name], value), {});

const send = async ({ operation, binding }: Pick<Case, 'operation' | 'binding'>, input: unknown) => {
  const names = inPath(binding);
  const fields = without(input, names);
  const answer = await dispatch({
    signal: stays,
    method: binding.method,
    path: binding.path.replaceAll(/\{\w+\}/g, 'x'),
    query: binding.from === 'query' && isNode(fields) ? fields : {},
    authorization: `Bearer ${bearerOf(operation)}`,
    body: binding.from === 'body' ? fields : undefined,
  });
  if (answer === undefined) throw new Error(`nothing answers ${binding.method} ${binding.path}`);
  const { error } = answer.body as { error?: { code: string; message: string } };
  return { status: answer.status, code: error?.code, message: error?.message ?? '' };
};

/**
 * Returns one case for each alternative. If rules between fields refuse the generated value, the operation's example is
 * used.
 */
const casesOf = (operation: Operation): readonly Case[] =>
  operation.bindings.flatMap((binding: AnyBinding) => {
    // A binding with a condition is reached only by requests that fulfil it.
    if (binding.when !== undefined) return [];
    const input = binding.input ?? operation.input;
    const root = inlined(input);
    return (formsOf(root).length > 0 ? formsOf(root) : [root]).flatMap((schema) => {
      const candidates = [wholeOf(schema), operation.example?.input];
      const whole = candidates.find((candidate) => isNode(candidate) && input.safeParse(candidate).success);
      return isNode(whole) ? [{ operation, binding, schema, whole }] : [];
    });
  });

const all = Object.values<Operation>(operations);

test('every operation has a test case', () => {
  expect(all.filter((operation) => casesOf(operation).length === 0).map(({ name }) => name)).toEqual([]);
});

describe.each(all.map((operation) => [operation.name, casesOf(operation)] as const))('%s', (_, cases) => {
  test('names path, value and rule of every fault', async () => {
    // Fields in the path are always text, so only text is sent there.
    for (const one of cases.filter(({ binding }) => binding.from !== 'path')) {
      const { binding, schema, whole } = one;
      const names = inPath(binding);
      const faults = placesOf(schema, whole)
        .flatMap(faultsAt)
        .filter(({ path }) => !names.includes(String(path[0])));
      for (const { what, path, by, says } of faults) {
        const { status, code, message } = await send(one, withAt(whole, path, by));
        const where = `${binding.method} ${binding.path}: ${what} at ${written(path)}: ${message.slice(0, 300)}`;
        expect([status, code], where).toEqual([400, 'INVALID_REQUEST_BODY']);
        expect(message, where).toContain(written(path));
        for (const part of says) expect(message, where).toContain(part);
        expect(message.length, where).toBeLessThan(4000);
      }
    }
  });

  test('names several faults in one answer', async () => {
    for (const one of cases.filter(({ binding }) => binding.from !== 'path')) {
      const { message } = await send(one, { ...one.whole, noSuchField: 1, norThisOne: 2 });
      expect(message).toContain('noSuchField: not a field of this operation');
      expect(message).toContain('norThisOne: not a field of this operation');
    }
  });

  test('refuses a repeated query parameter by name', async () => {
    for (const one of cases.filter(({ binding }) => binding.from === 'query')) {
      const names = propertiesOf(one.schema)
        .map(([name]) => name)
        .filter((name) => !inPath(one.binding).includes(name));
      for (const name of names) {
        const { status, message } = await send(one, { ...one.whole, [name]: ['1', '1'] });
        expect(status).toBe(400);
        expect(message).toContain(`${name}: got an array of 2 items`);
      }
    }
  });
});
