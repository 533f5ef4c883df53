/** Violations of a schema by a YAML file, in words: where, what is wrong, and what was probably meant. */
import { z } from 'zod';
import { isRecord } from '../../model/is-record.js';
import { hintOf, nearestName } from '../../model/nearest-name.js';
import { type FileFault, mostFaults, type Path, type Source } from './yaml-source.js';

type Issue = z.core.$ZodIssue;

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
const fieldsAt = (root: object, path: Path): readonly string[] => {
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
  if (issue.code === 'invalid_union' && issue.message === 'Invalid input')
    return 'is none of the forms that are allowed';
  const words = issue.message.replace(/^Invalid (?:input|option): /, '').replace(/, received undefined$/, '');
  if (value === undefined && issue.code !== 'custom') return `is missing: ${words}`;
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

/** One violation: `path` leads to the value, or to the field that there is not. */
type Violation = { readonly offset: number; readonly path: Path; readonly words: string };

/**
 * The violations of the schema, in the order of the file: of an unknown field also the one that was probably meant. At
 * most `mostFaults`.
 */
export const findViolations = (source: Source, error: z.ZodError, schema: z.ZodType): readonly Violation[] => {
  const issues = error.issues.slice(0, mostFaults).flatMap(meantIssues).slice(0, mostFaults);
  const isMisspelt = issues.some(({ code }) => code === 'unrecognized_keys');
  // To write the schema as JSON takes time, and only the names of fields need it.
  const root = isMisspelt ? z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) : {};
  return issues
    .flatMap((issue): readonly Violation[] => {
      const path = issue.path.filter((part): part is string | number => typeof part !== 'symbol');
      if (issue.code === 'unrecognized_keys') {
        const known = fieldsAt(root, path);
        return issue.keys.slice(0, mostFaults).map((key) => ({
          offset: source.offsetOfKey(path, key),
          path: [...path, key],
          words: `is not a field; ${hintOf(key, known, 'the fields are')}`,
        }));
      }
      return [{ offset: source.offsetOf(path), path, words: wordsOf(issue, valueAt(source.content, path)) }];
    })
    .slice(0, mostFaults)
    .toSorted((left, right) => left.offset - right.offset);
};

/** The violations as faults with their lines. `what` is the kind of file. */
export const schemaFaults = (
  source: Source,
  error: z.ZodError,
  schema: z.ZodType,
  what = 'the file',
): readonly FileFault[] =>
  findViolations(source, error, schema).map(({ offset, path, words }) => ({
    at: source.at(offset),
    message: `${writePath(path) || what}: ${words}`,
  }));
