/**
 * Checks the policy's names against the service: at the start, after each change of the policy, and again while a name is
 * unknown or the service cannot be asked. It only reports, and never keeps a policy from use: the service refuses every
 * token that names what it does not have, so a misspelt name grants nothing. Refusing the policy instead would keep the
 * earlier one in force, with what the new one withdraws.
 */
import { z } from 'zod';
import { handled } from '../../model/handled.js';
import { identifier } from '../../platform/http/interface/fields.js';
import type { Log } from '../../platform/logs/log.js';
import { repeat, systemTiming, type Timing } from '../../platform/work/time.js';
import { type AdminCommand, adminCommand, declareCommand, readBy } from '../common/admin-command.js';
import { findUnknownNames, nameCatalogue, type UnknownName, unknownName } from '../policy/names.js';
import type { Policies } from '../policy/policies.js';
import type { Policy } from '../policy/policy.js';
import { templateName } from '../policy/schema.js';
import { askedNames, type CatalogueDeps, readCatalogue } from './read-catalogue.js';

/** Rejects with UPSTREAM_UNAVAILABLE if the service cannot be asked now. */
const checkNames = async (
  deps: CatalogueDeps,
  policy: Pick<Policy, 'names' | 'datamart'>,
): Promise<readonly UnknownName[]> => findUnknownNames(policy.names, await readCatalogue(deps, askedNames(policy)));

export type NameCheckOptions = CatalogueDeps & {
  readonly policies: Policies;
  readonly log: Log;
  readonly timing?: Timing;
  readonly retryMs?: number;
};

export type NameCheck = { readonly close: () => void };

/** What was found last, so that the same finding is logged once. */
type Found = { readonly policy: Policy; readonly said: string };

const unreachable = 'unreachable';
const clean = '[]';

/** Starts checking. */
export const startNameCheck = (options: NameCheckOptions): NameCheck => {
  const { policies, log, timing = systemTiming, retryMs = 30_000 } = options;
  let last: Found | null = null;
  const report = (policy: Policy, unknown: readonly UnknownName[]): void => {
    const said = JSON.stringify(unknown);
    if (last?.policy === policy && last.said === said) return;
    const file = policy.file;
    for (const { at, name, message } of unknown) {
      log.error({ event: 'policy.name_unknown', file, at, name }, `${at}: ${message}`);
    }
    if (unknown.length === 0 && last !== null && last.said !== clean)
      log.info({ event: 'policy.names_known', file }, 'the service has every name of the policy');
    last = { policy, said };
  };
  const run = async (): Promise<void> => {
    const policy = policies.current();
    try {
      const unknown = await checkNames(options, policy);
      // The policy changed meanwhile, and its change has started another check.
      if (policies.current() === policy) report(policy, unknown);
    } catch (err) {
      if (last?.policy === policy && last.said === unreachable) return;
      last = { policy, said: unreachable };
      log.warn(
        { event: 'policy.names_unchecked', err, file: policy.file },
        'the names of the policy could not be checked against the service; retrying',
      );
    }
  };
  let isClosed = false;
  let running: Promise<void> = Promise.resolve();
  /** One check at a time, so that the same finding is not logged twice. */
  const look = (): Promise<void> => {
    running = handled(
      running.then(async () => {
        const isSettled = last?.policy === policies.current() && last.said === clean;
        if (!isClosed && !isSettled) await run();
      }),
    );
    return running;
  };
  // Not awaited: a reload must not wait for the service.
  policies.subscribe({ changed: async () => void look() });
  const stop = repeat(timing, retryMs, look);
  void look();
  return {
    close: () => {
      isClosed = true;
      stop();
    },
  };
};

const asked = z
  .strictObject({
    workspace: identifier,
    templates: z.array(templateName).max(1000),
    embeds: z.array(identifier).max(1000),
    datamart: identifier.nullable().default(null),
    datamarts: z.array(identifier).max(1000).optional(),
    hasSources: z.boolean().optional(),
  })
  .describe('Left out: the names of the policy in force.');

const input = z.strictObject({ asked: asked.optional() });

/** What the service has of the names that were asked for, or the unknown names of the policy in force. */
const found = z.union([
  z.object({ catalogue: nameCatalogue }),
  z.object({ file: z.string(), digest: z.string(), unknown: z.array(unknownName) }),
]);

export const checkPolicyNames = declareCommand(
  'policy-names',
  input,
  found,
  readBy('author', 'publisher', 'policyAdmin', 'auditor'),
);

/**
 * The command `policy-names`: returns what the service has of these names, for a policy that is not in force; or the
 * unknown names of the policy in force.
 */
export const policyNamesCommand = (deps: CatalogueDeps, policies: Policies): AdminCommand =>
  adminCommand(checkPolicyNames, async (given) => {
    if (given.asked !== undefined) return { catalogue: await readCatalogue(deps, given.asked) };
    const policy = policies.current();
    return { file: policy.file, digest: policy.digest, unknown: await checkNames(deps, policy) };
  });
