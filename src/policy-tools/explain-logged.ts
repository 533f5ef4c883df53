/** Explains a request that was answered earlier, from what the audit kept of it. */
import { Refusal } from '../domain/refusal.js';
import { loadExplanation } from '../gateway/audit/read.js';
import { embedTokenBody } from '../gateway/common/wire.js';
import type { Ledger } from '../gateway/ledger/ledger.js';
import { loadPolicy, type Policy } from '../gateway/policy/load.js';
import { PolicyFaults } from '../gateway/policy/source.js';
import type { PolicyCase } from './dry-run.js';
import { type ExplainOptions, type Explanation, explainGrant } from './explain.js';

/** Its inputs, what it was answered with (`OK`, or a code), its tenant (null: it had none), and the policy's files as they were then. */
export type LoggedRequest = PolicyCase & {
  readonly code: string;
  readonly clientId: string | null;
  readonly files: readonly { readonly file: string; readonly text: string }[];
};

/** As the audit keeps it. Rejects with NOT_FOUND where it keeps nothing of it, or no longer. */
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

const loadFiles = ([own, ...beside]: LoggedRequest['files']): Policy => {
  try {
    if (own !== undefined) return loadPolicy(own.text, own.file, beside);
  } catch (cause) {
    if (!(cause instanceof PolicyFaults)) throw cause;
    throw new Refusal('NOT_SUPPORTED', `This release does not read the policy of that time: ${cause.message}`, {
      cause,
    });
  }
  throw new Refusal('NOT_FOUND', 'The policy of that request was not kept.');
};

/** By the policy and for the tenant of that time. Rejects with NOT_SUPPORTED for a policy that cannot be read any more. */
export const explainLogged = async (
  { files, clientId, code, ...of }: LoggedRequest,
  { tenantOf, listMetrics, findEmbeds }: Omit<ExplainOptions, 'policy' | 'of'> = {},
): Promise<Explanation> => {
  const explanation = await explainGrant({
    policy: loadFiles(files),
    of,
    listMetrics,
    findEmbeds,
    tenantOf: clientId === null ? tenantOf : () => clientId,
  });
  // What denies beside the policy, such as a suspended tenant, is not in it.
  if (code === (explanation.denial?.code ?? 'OK')) return explanation;
  return { ...explanation, notes: [`It was answered with ${code}: that was not the policy.`, ...explanation.notes] };
};
