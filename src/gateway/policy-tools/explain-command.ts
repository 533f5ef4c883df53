/** The command `policy-explain`: a running gateway explains a decision for given claims, or the decision of an earlier request. */
import { z } from 'zod';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { loadExplanation } from '../audit/read.js';
import { type AdminCommand, adminCommand, declareCommand, readBy, written } from '../common/admin-command.js';
import { embedTokenBody } from '../common/wire.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Policies } from '../policy/policies.js';
import type { Policy } from '../policy/policy.js';
import { type ReachOf, tableNamedIn } from '../policy/reach.js';
import { compileRead, readPolicy } from '../policy/reading.js';
import { PolicyFaults } from '../policy/source.js';
import type { TenantOf } from '../tenant/resolve.js';
import type { FindEmbeds } from '../token/granted-embeds.js';
import type { ListMetrics } from '../token/metric-lists.js';
import type { CheckCards } from './cards.js';
import type { PolicyCase } from './dry-run.js';
import { type ExplainOptions, type Explanation, explainGrant, otherAnswer } from './explain.js';
import { writeExplanation } from './explain-text.js';

export type PolicyExplainOptions = {
  readonly policies: Policies;
  readonly reachOf: ReachOf;
  readonly tenantOf: TenantOf;
  readonly listMetrics: ListMetrics;
  readonly findEmbeds: FindEmbeds;
  readonly checkCards: CheckCards;
  readonly clock: Clock;
  /** Throws TENANT_SUSPENDED if the tenant may have no tokens now. */
  readonly assertTenant: (clientId: string) => Promise<void> | void;
  /** Loads the stored inputs of an earlier request by its id. Rejects with NOT_FOUND. */
  readonly loadRequest: (requestId: string) => Promise<LoggedRequest>;
};

/** Either the claims of a session, or the id of an earlier request. */
const input = z
  .strictObject({
    claims: z.record(z.string(), z.unknown()).optional(),
    body: embedTokenBody.optional(),
    now: z.iso.datetime({ offset: true }).optional(),
    request: z.string().min(1).max(255).optional(),
  })
  .refine(
    ({ claims, body, now, request }) =>
      (claims === undefined) !== (request === undefined) && (request === undefined || (body ?? now) === undefined),
    'give claims (with body and now, if need be), or request alone',
  );

/** Adds the refusal of a suspended or deleted tenant, which comes before the policy. */
const withAccess = async (
  explanation: Explanation,
  { assertTenant }: Pick<PolicyExplainOptions, 'assertTenant'>,
): Promise<Explanation> => {
  if (explanation.tenant === null) return explanation;
  try {
    await assertTenant(explanation.tenant.clientId);
    return explanation;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'TENANT_SUSPENDED') throw error;
    return { ...explanation, answer: otherAnswer(error.code) };
  }
};

// The explanation of an earlier request has the claims of its user.
export const explainPolicy = declareCommand(
  'policy-explain',
  input,
  z.object({ explanation: written<Explanation>(), text: z.string() }),
  {
    ...readBy('author', 'publisher', 'policyAdmin', 'support', 'auditor'),
    narrower: { field: 'request', roles: ['support', 'auditor'], reads: 'rows' },
  },
  {
    title: 'Explain a decision',
    description: 'Says what a user of a tenant may see, and which rule of the policy says so.',
  },
);

/** Creates the command. It returns `{explanation, text}`: JSON for programs and text for people. */
export const createPolicyExplainCommand = (options: PolicyExplainOptions): AdminCommand => {
  const { policies, reachOf, tenantOf, listMetrics, findEmbeds, checkCards, clock, loadRequest } = options;
  const explain = async (
    { claims, body = {}, now, request }: z.output<typeof input>,
    seesTenant: boolean,
  ): Promise<Explanation> => {
    const asking = { tenantOf, listMetrics, findEmbeds, checkCards, seesTenant };
    if (request !== undefined) return explainLogged(await loadRequest(request), reachOf, asking);
    const at = now === undefined ? clock.now() : new Date(now);
    const of = { claims: claims ?? {}, body, now: at };
    return withAccess(await explainGrant({ ...asking, policy: policies.current(), of }), options);
  };
  return adminCommand(explainPolicy, async (given, { seesData }) => {
    const explanation = await explain(given, seesData);
    return { explanation, text: writeExplanation(explanation) };
  });
};

/**
 * The inputs of an earlier request, its result (`OK` or an error code), its tenant (null if none), and the policy's
 * files at that time.
 */
export type LoggedRequest = PolicyCase & {
  readonly code: string;
  readonly clientId: string | null;
  readonly files: readonly { readonly file: string; readonly text: string }[];
};

/** Loads a request from the audit. Rejects with NOT_FOUND if the audit has no inputs of it, or has deleted them. */
export const loadLoggedRequest = async (ledger: Ledger, requestId: string): Promise<LoggedRequest> => {
  const { session, asked, now, code, clientId, policy } = await loadExplanation(ledger, requestId);
  return {
    claims: session.claims,
    body: embedTokenBody.parse(asked),
    now: new Date(now),
    code,
    clientId,
    files: policy,
  };
};

const loadFiles = async (files: LoggedRequest['files'], reachOf: ReachOf): Promise<Policy> => {
  if (files.length === 0) throw new Refusal('NOT_FOUND', 'The policy of that request was not stored.');
  try {
    const { documents } = await readPolicy({ from: files });
    if (documents instanceof PolicyFaults) throw documents;
    if (documents === null) throw new Error('texts are read unless their mark is given');
    return await compileRead(documents, await reachOf(tableNamedIn(documents.own.source)));
  } catch (cause) {
    if (!(cause instanceof PolicyFaults)) throw cause;
    throw new Refusal('NOT_SUPPORTED', `This release cannot read the policy of that time: ${cause.message}`, {
      cause,
    });
  }
};

/**
 * Explains a request with the policy and the tenant of that time. Rejects with NOT_SUPPORTED if this release cannot
 * read that policy.
 */
const explainLogged = async (
  { files, clientId, code, ...of }: LoggedRequest,
  reachOf: ReachOf,
  asking: Omit<ExplainOptions, 'policy' | 'of'>,
): Promise<Explanation> => {
  const explanation = await explainGrant({
    ...asking,
    policy: await loadFiles(files, reachOf),
    of,
    tenantOf: clientId === null ? asking.tenantOf : () => clientId,
  });
  // The explanation does not contain denials by other steps, such as the one for a suspended tenant.
  if (code === (explanation.denial?.code ?? 'OK')) return explanation;
  return { ...explanation, answer: otherAnswer(code) };
};
