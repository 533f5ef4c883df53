/** The names of tested policies that the service of a running gateway does not have. */
import type { AnswerOf, InputOf } from '../../platform/http/interface/callable.js';
import { findUnknownNames, type UnknownName } from '../policy/names.js';
import type { Policy } from '../policy/policy.js';
import type { checkPolicyNames } from '../policy-names/name-check.js';
import { askedNames } from '../policy-names/read-catalogue.js';

/** Runs the command `policy-names` of a gateway. */
type AskGateway = (input: InputOf<typeof checkPolicyNames>) => Promise<AnswerOf<typeof checkPolicyNames>>;

/** Returns the unknown names of all policies. Rejects as `ask` does. */
export const unknownNamesOf = async (policies: Iterable<Policy>, ask: AskGateway): Promise<readonly UnknownName[]> => {
  const unknown: UnknownName[] = [];
  for (const policy of policies) {
    const found = await ask({ asked: askedNames(policy) });
    if (!('catalogue' in found)) throw new Error('the gateway answers names that it was not asked for');
    unknown.push(...findUnknownNames(policy.names, found.catalogue));
  }
  return unknown;
};

/** Returns the text, without a final newline. */
export const writeUnknownNames = (unknown: readonly UnknownName[]): string =>
  ['Names that the service does not have:', ...unknown.map(({ at, message }) => `  ${at}: ${message}`)].join('\n');
