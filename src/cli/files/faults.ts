/** Faults of files: each with its file, line and field, what is wrong, and how to mend it. */
import type { z } from 'zod';
import type { PolicyFault, Source } from '../../gateway/policy/source.js';
import { isRecord } from '../../model/is-record.js';
import { nearestName } from '../../model/nearest-name.js';
import { jsonSchemaOf, type Kind } from './formats.js';

/** `at` is `file:line:column`. */
export type FileFault = PolicyFault;

/** All faults of all files, in one message. */
export class FileFaults extends Error {
  override readonly name = 'FileFaults';
}

/** Throws FileFaults with all faults, if there are some. */
export const assertNoFileFaults = (faults: readonly FileFault[]): void => {
  if (faults.length === 0) return;
  const lines = faults.map(({ at, message }) => `  ${at}: ${message.replace(/\p{Cc}/gu, '\uFFFD')}`);
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
  throw new FileFaults(`${count} in the files, and nothing was done:\n${lines.join('\n')}`);
};

/** Did you mean, or which names there are. */
export const hintOf = (name: string, known: readonly string[], what: string): string => {
  const near = nearestName(name, known);
  return near === undefined ? `${what}: ${known.join(', ') || 'none'}` : `did you mean "${near}"?`;
};

type Issue = z.core.$ZodIssue;
type Path = readonly (string | number)[];

const isOfAnotherType = (issues: readonly Issue[]): boolean =>
  issues.length === 1 && issues[0]?.code === 'invalid_type' && issues[0].path.length === 0;

/** Of a value with several forms: the issues of the form that fits best. */
const meantIssues = (issue: Issue): readonly Issue[] => {
  if (issue.code !== 'invalid_union') return [issue];
  const forms = issue.errors.filter((issues) => !isOfAnotherType(issues));
  const [best = []] = forms.toSorted((left, right) => left.length - right.length);
  if (best.length === 0) return [issue];
  return best.flatMap((inner) => meantIssues({ ...inner, path: [...issue.path, ...inner.path] }));
};

/** The schemas that a schema stands for. */
const formsOf = (root: object, node: unknown): readonly Record<string, unknown>[] => {
  if (!isRecord(node)) return [];
  const pointer = typeof node.$ref === 'string' ? node.$ref.split('/').slice(1) : undefined;
  if (pointer !== undefined) {
    return formsOf(
      root,
      pointer.reduce<unknown>((at, part) => (isRecord(at) ? at[part] : undefined), root),
    );
  }
  const inner = [node.anyOf, node.oneOf, node.allOf].flatMap((forms) => (Array.isArray(forms) ? forms : []));
  return [node, ...inner.flatMap((form) => formsOf(root, form))];
};

/** The fields that the schema has at the path. */
const fieldsAt = (kind: Kind, path: Path): readonly string[] => {
  const root = jsonSchemaOf(kind);
  let forms = formsOf(root, root);
  for (const part of path) {
    forms = forms.flatMap((form) => {
      const { properties, items, additionalProperties } = form;
      const named = isRecord(properties) ? properties[part] : undefined;
      return formsOf(root, typeof part === 'number' ? items : (named ?? additionalProperties));
    });
  }
  return [...new Set(forms.flatMap(({ properties }) => (isRecord(properties) ? Object.keys(properties) : [])))];
};

const writePath = (path: Path): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');

/** What is wrong with the value; undefined is a missing field. */
const wordsOf = (issue: Issue, value: unknown): string => {
  if (issue.code === 'invalid_union') return 'is none of the forms that the schema in .schemas lists';
  const words = issue.message.replace(/^Invalid (?:input|option): /, '').replace(/, received undefined$/, '');
  if (value === undefined) return `is missing: ${words}`;
  const near =
    issue.code === 'invalid_value' && typeof value === 'string'
      ? nearestName(value, issue.values.map(String))
      : undefined;
  return near === undefined ? words : `${words}; did you mean "${near}"?`;
};

const valueAt = (content: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, part) => {
    if (Array.isArray(at)) return typeof part === 'number' ? at[part] : undefined;
    return isRecord(at) && Object.hasOwn(at, part) ? at[part] : undefined;
  }, content);

type Found = { readonly offset: number; readonly message: string };

/** The violations of the schema, in the order and with the lines of the file. */
export const schemaFaults = (kind: Kind, source: Source, error: z.ZodError): readonly FileFault[] =>
  error.issues
    .flatMap(meantIssues)
    .flatMap((issue): readonly Found[] => {
      const path = issue.path.filter((part): part is string | number => typeof part !== 'symbol');
      if (issue.code === 'unrecognized_keys') {
        return issue.keys.map((key) => ({
          offset: source.offsetOfKey(path, key),
          message: `${writePath([...path, key])}: is not a field; ${hintOf(key, fieldsAt(kind, path), 'the fields are')}`,
        }));
      }
      const words = wordsOf(issue, valueAt(source.content, path));
      return [{ offset: source.offsetOf(path), message: `${writePath(path) || 'the file'}: ${words}` }];
    })
    .toSorted((left, right) => left.offset - right.offset)
    .map(({ offset, message }) => ({ at: source.at(offset), message }));
