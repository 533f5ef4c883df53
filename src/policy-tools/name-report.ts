/** The names of tested policies that the service of a running gateway does not have. */
import { z } from 'zod';
import { findUnknownNames, type NameCatalogue, type UnknownName } from '../gateway/policy/names.js';
import type { Policy } from '../gateway/policy/policy.js';
import { askedNames } from '../gateway/policy-names/read-catalogue.js';

const names = z.array(z.string());
const board = z.object({
  source: z.string(),
  filters: names.nullable(),
  metrics: z.array(z.object({ metricId: z.string(), name: z.string() })).nullable(),
  metricFilters: names.nullable(),
  rlsVariables: names.nullable(),
});
const answer = z.object({
  catalogue: z.object({
    otherWorkspaces: names.nullable(),
    boards: z.array(board),
    missing: names,
    dashboardsThere: names,
    embedsThere: names,
    tables: z
      .array(z.object({ tableName: z.string(), columns: names }))
      .nullable()
      .default(null),
  }) satisfies z.ZodType<NameCatalogue>,
});

/** Runs the command `policy-names` of a gateway. */
export type AskGateway = (command: 'policy-names', input: unknown) => Promise<unknown>;

/** Returns the unknown names of all policies. Rejects as `ask` does. */
export const unknownNamesOf = async (policies: Iterable<Policy>, ask: AskGateway): Promise<readonly UnknownName[]> => {
  const unknown: UnknownName[] = [];
  for (const policy of policies) {
    const { catalogue } = answer.parse(await ask('policy-names', { asked: askedNames(policy) }));
    unknown.push(...findUnknownNames(policy.names, catalogue));
  }
  return unknown;
};

/** Returns the text, without a final newline. */
export const writeUnknownNames = (unknown: readonly UnknownName[]): string =>
  ['Names that the service does not have:', ...unknown.map(({ at, message }) => `  ${at}: ${message}`)].join('\n');
