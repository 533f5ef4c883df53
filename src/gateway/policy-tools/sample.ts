/**
 * Reads the sample users of a plan from JSON lines. Each line has the claims of a session, or `{claims, body?, lookup?,
 * now?}`.
 */
import { z } from 'zod';
import { embedTokenBody } from '../common/wire.js';
import { type PolicyFault, PolicyFaults } from '../policy/source.js';
import { lookupAnswer } from '../tenant/lookup.js';
import type { PolicyCase } from './dry-run.js';

/** A sample user. `line` counts from 1. */
export type SampleUser = PolicyCase & { readonly line: number; readonly user: string };

const claims = z.looseObject({ sub: z.string('names no user: each line needs the claim sub') });
const full = z.strictObject({
  claims,
  body: embedTokenBody.default({}),
  lookup: lookupAnswer.optional(),
  now: z.iso.datetime({ offset: true }).optional(),
});

const isFull = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'claims' in value && !('sub' in value);

const parseJson = (line: string): { readonly value: unknown } | { readonly fault: string } => {
  try {
    return { value: JSON.parse(line) };
  } catch (error) {
    return { fault: `is no JSON: ${error instanceof Error ? error.message : 'unknown fault'}` };
  }
};

const writeIssue = ({ path, message }: z.core.$ZodIssue): string =>
  path.length === 0 ? message : `${path.join('.')}: ${message}`;

const placeOf = (file: string, line: number): string => `${file}:${line}:1`;

const readLine = (text: string, file: string, line: number, now: Date): SampleUser | { readonly fault: string } => {
  const parsed = parseJson(text);
  if ('fault' in parsed) return parsed;
  const result = full.safeParse(isFull(parsed.value) ? parsed.value : { claims: parsed.value });
  if (!result.success) return { fault: result.error.issues.map(writeIssue).join('; ') };
  const { claims: given, body, lookup, now: own } = result.data;
  const at = placeOf(file, line);
  return { line, at, user: given.sub, claims: given, body, lookup, now: own === undefined ? now : new Date(own) };
};

/**
 * Reads all users. `now` is the time for users without one. Throws PolicyFaults with every faulty line, or if there is
 * no user.
 */
export const readSample = (text: string, file: string, now: Date): readonly SampleUser[] => {
  const read = text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, number }) => ({ number, result: readLine(line, file, number, now) }));
  const faults: readonly PolicyFault[] = read.flatMap(({ number, result }) =>
    'fault' in result ? [{ at: placeOf(file, number), message: result.fault }] : [],
  );
  if (faults.length > 0) throw new PolicyFaults(faults);
  if (read.length === 0) throw new PolicyFaults([{ at: `${file}:1:1`, message: 'has no user: nothing to compare' }]);
  return read.flatMap(({ result }) => ('fault' in result ? [] : [result]));
};
