/** `policy-explain`: a running gateway explains what it would decide, or what it decided earlier. */
import { z } from 'zod';
import type { Clock } from '../domain/ports.js';
import { type AdminCommand, adminCommand } from '../gateway/common/admin-command.js';
import { embedTokenBody } from '../gateway/common/wire.js';
import type { Policies } from '../gateway/policy/policies.js';
import type { TenantOf } from '../gateway/tenant/resolve.js';
import type { FindEmbeds } from '../gateway/token/granted-embeds.js';
import type { ListMetrics } from '../gateway/token/metric-lists.js';
import { type Explanation, explainGrant } from './explain.js';
import { explainLogged, type LoggedRequest } from './explain-logged.js';
import { writeExplanation } from './explain-text.js';

export type PolicyExplainOptions = {
  readonly policies: Policies;
  readonly tenantOf: TenantOf;
  readonly listMetrics: ListMetrics;
  readonly findEmbeds: FindEmbeds;
  readonly clock: Clock;
  /** What was kept of an earlier request, by its id. Rejects with NOT_FOUND. */
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

/** Answers `{explanation, text}`: for programs and for people. */
export const createPolicyExplainCommand = (options: PolicyExplainOptions): AdminCommand => {
  const { policies, tenantOf, listMetrics, findEmbeds, clock, loadRequest } = options;
  const explain = async ({ claims, body = {}, now, request }: z.output<typeof input>): Promise<Explanation> => {
    if (request !== undefined) return explainLogged(await loadRequest(request), { tenantOf, listMetrics, findEmbeds });
    const at = now === undefined ? clock.now() : new Date(now);
    const of = { claims: claims ?? {}, body, now: at };
    return explainGrant({ policy: policies.current(), of, tenantOf, listMetrics, findEmbeds });
  };
  return adminCommand('policy-explain', input, async (given) => {
    const explanation = await explain(given);
    return { explanation, text: writeExplanation(explanation) };
  });
};
