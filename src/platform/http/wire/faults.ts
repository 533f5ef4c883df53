/**
 * Describes what is wrong with a request: the place, the value that arrived, and what was expected. Never shows a
 * secret.
 */
import type { z } from 'zod';
import { Refusal } from '../../../model/refusal.js';
import { limits } from '../interface/fields.js';

type Path = readonly PropertyKey[];
type Issue = z.core.$ZodIssue;

const maxFaults = 10;
const maxShown = 40;
/** Fields whose values are never shown: they or their parents may hold credentials or RLS values. */
const secretName = /^values$|password|secret|token|credential|apikey|^key$|^sql$/i;
const plainName = /^[A-Za-z_$][\w$]*$/;

const shorten = (text: string): string => {
  const characters = [...text.slice(0, 2 * maxShown + 2)];
  return characters.length > maxShown ? `${characters.slice(0, maxShown).join('')}…` : text;
};

const writeSegment = (segment: PropertyKey): string => {
  if (typeof segment === 'number') return `[${segment}]`;
  const name = String(segment);
  return plainName.test(name) && name.length <= maxShown ? `.${name}` : `[${JSON.stringify(shorten(name))}]`;
};

/** Writes a path such as `params.allowedEmbeds[0]`; for the complete value, `root`. */
const writePath = (path: Path, root: string): string =>
  path.length === 0 ? root : path.map(writeSegment).join('').replace(/^\./, '');

const ownValue = (value: unknown, key: PropertyKey): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<PropertyKey, unknown>>)[key]
    : undefined;

const isSecret = (path: Path): boolean => path.some((name) => typeof name === 'string' && secretName.test(name));

const count = (many: number, one: string): string => `${many} ${one}${many === 1 ? '' : 's'}`;

const writeValue = (value: unknown, path: Path): string => {
  if (value === undefined) return 'missing';
  return `got ${writeGiven(value, path)}`;
};

const writeGiven = (value: unknown, path: Path): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${count(value.length, 'item')}`;
  if (typeof value === 'object') return 'an object';
  if (isSecret(path)) return `a ${typeof value}`;
  if (typeof value !== 'string') return `${typeof value} ${String(value)}`;
  return value.length > maxShown
    ? `string ${JSON.stringify(shorten(value))} (${count(value.length, 'character')})`
    : `string ${JSON.stringify(value)}`;
};

const units: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item', object: 'property' };

const typeNames: Readonly<Record<string, string>> = {
  int: 'a whole number',
  record: 'an object',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

const typeName = (type: string): string => typeNames[type] ?? `a ${type}`;

const writeBound = (issue: Extract<Issue, { code: 'too_small' | 'too_big' }>): string => {
  const unit = units[issue.origin];
  const bound = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  if (unit !== undefined) return `at ${issue.code === 'too_small' ? 'least' : 'most'} ${count(Number(bound), unit)}`;
  if (issue.code === 'too_small') return issue.inclusive === false ? `more than ${bound}` : `${bound} or more`;
  return issue.inclusive === false ? `less than ${bound}` : `${bound} or less`;
};

const oneOf = (values: readonly unknown[]): string => {
  const shown = values.map((value) => JSON.stringify(value)).join(', ');
  return values.length === 1 ? shown : `one of ${shown}`;
};

/** Returns what was expected. Schemas with their own rules have messages that can follow the word "expected". */
const writeRule = (issue: Issue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return typeName(issue.expected);
    case 'too_small':
    case 'too_big':
      return writeBound(issue);
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options) ? oneOf(issue.options) : issue.message;
    default:
      return issue.message;
  }
};

/** Whether the value is of another type, or is another value than the only ones of this form. */
const isOtherValue = (issues: readonly Issue[]): boolean =>
  issues.length === 1 &&
  (issues[0]?.code === 'invalid_type' || issues[0]?.code === 'invalid_value') &&
  issues[0].path.length === 0;

const wrongChoices = (issues: readonly Issue[]): number => issues.filter(({ code }) => code === 'invalid_value').length;

/** A value that no alternative takes: with the values that each of them takes at this place. */
const withChoices = (issue: Issue, forms: readonly (readonly Issue[])[]): Issue => {
  if (issue.code !== 'invalid_value') return issue;
  const values = forms.flat().flatMap((other) => {
    const isSame = other.code === 'invalid_value' && writePath(other.path, '') === writePath(issue.path, '');
    return isSame ? other.values : [];
  });
  return { ...issue, values: [...new Set(values)] };
};

/**
 * Returns the faults of a union: those of the alternative that fits the value's type, or if none fits, what was
 * expected. Of alternatives with as many faults, the one whose name (such as `every: "month"`) was given is meant.
 */
const expandUnion = (issue: Extract<Issue, { code: 'invalid_union' }>): Issue[] | string => {
  const forms = issue.errors.filter((errors) => !isOtherValue(errors));
  const meant = forms.toSorted((a, b) => a.length - b.length || wrongChoices(a) - wrongChoices(b))[0];
  if (meant !== undefined) {
    return meant.map((inner) => ({ ...withChoices(inner, issue.errors), path: [...issue.path, ...inner.path] }));
  }
  return [...new Set(issue.errors.flatMap((errors) => errors.slice(0, 1)).map(writeRule))].join(' or ');
};

const writeIssue = (issue: Issue, input: unknown, root: string): readonly string[] => {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, 2 * maxFaults)
      .map((key) => `${writePath([...issue.path, key], root)}: not a field of this operation`);
  }
  if (issue.code === 'invalid_key') {
    const rules = issue.issues.map(writeRule).join(' and ');
    return [`${writePath(issue.path, root)}: as a name, expected ${rules}`];
  }
  const expanded = issue.code === 'invalid_union' && issue.errors.length > 0 ? expandUnion(issue) : writeRule(issue);
  if (typeof expanded !== 'string') return expanded.flatMap((inner) => writeIssue(inner, input, root));
  const value = issue.path.reduce<unknown>(ownValue, input);
  return [`${writePath(issue.path, root)}: ${writeValue(value, issue.path)}, expected ${expanded}`];
};

/** Returns one message with up to ten faults and the number of further ones. */
export const writeFaults = (faults: readonly string[]): string => {
  const rest = faults.length - maxFaults;
  const shown = faults.slice(0, maxFaults).join('; ');
  return rest > 0 ? `${shown}; and ${rest} more.` : `${shown}.`;
};

/** Describes the issues that a schema found in `input`. */
const describeIssues = (issues: readonly Issue[], input: unknown, root: string): readonly string[] =>
  issues.flatMap((issue) => writeIssue(issue, input, root));

/**
 * Maximum number of values in a body for which all faults are collected. For larger bodies only the first fault is
 * returned, since a million faults would take a second.
 */
const fewValues = 500;
/**
 * A switch of zod that makes a container stop at the first aborting fault: a wrong type, or what `identifier` and
 * `text` refuse. zod uses it for `validate`; a test verifies that it still works.
 */
const firstFault = { abortEarly: true } as z.core.ParseContext<z.core.$ZodIssue>;

/**
 * Returns the parsed input, or its faults. `root` names the complete value in messages (`body`, `query`); `values` is
 * the number of values in it.
 */
export const findFaults = (
  schema: z.ZodType,
  input: unknown,
  { root, values }: { readonly root: string; readonly values: number },
): { readonly data: unknown } | { readonly faults: readonly string[] } => {
  const first = schema.safeParse(input, firstFault);
  if (first.success) return { data: first.data };
  if (values > fewValues) {
    const [fault = `${root}: not valid`] = describeIssues(first.error.issues.slice(0, 1), input, root);
    return { faults: [`${fault} (the body has ${values} values, so only its first fault is listed)`] };
  }
  const all = schema.safeParse(input);
  return { faults: describeIssues((all.error ?? first.error).issues, input, root) };
};

/** Returns the parsed body. Throws INVALID_REQUEST_BODY with the place of each fault. */
export const decodeBody = <T extends z.ZodType>(schema: T, given: unknown): z.output<T> => {
  const found = findFaults(schema, given, { root: 'body', values: 0 });
  if ('faults' in found) throw new Refusal('INVALID_REQUEST_BODY', writeFaults(found.faults));
  return found.data as z.output<T>;
};

const isNode = (value: unknown): value is object => typeof value === 'object' && value !== null;

type Node = { readonly value: object; readonly key: PropertyKey; readonly within: Node | undefined };

const pathOf = ({ key, within }: Node): Path => (within === undefined ? [] : [...pathOf(within), key]);

/**
 * Returns the first fault that a schema should not have to handle: too deep nesting, too many properties, or a property
 * called `__proto__`, which can change an object's prototype when it is copied. Also counts the values. It does not
 * recurse, so deep nesting cannot overflow the stack.
 */
export const findShapeFault = (
  input: unknown,
  root: string,
): { readonly fault: string | undefined; readonly values: number } => {
  let values = 1;
  let level: Node[] = isNode(input) ? [{ value: input, key: '', within: undefined }] : [];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limits.depth) return { fault: `${root}: nested deeper than ${limits.depth} levels`, values };
    const next: Node[] = [];
    for (const node of level) {
      const isList = Array.isArray(node.value);
      const members: readonly unknown[] = isList ? (node.value as readonly unknown[]) : Object.values(node.value);
      if (!isList && Object.hasOwn(node.value, '__proto__')) {
        return { fault: `${writePath([...pathOf(node), '__proto__'], root)}: not a field of this operation`, values };
      }
      values += members.length;
      if (!isList && members.length > limits.anyProperties) {
        const many = `got an object of ${members.length} properties, expected at most ${limits.anyProperties}`;
        return { fault: `${writePath(pathOf(node), root)}: ${many}`, values };
      }
      const keys = isList ? [] : Object.keys(node.value);
      members.forEach((value, index) => {
        if (isNode(value)) next.push({ value, key: keys[index] ?? index, within: node });
      });
    }
    level = next;
  }
  return { fault: undefined, values };
};
