/** Builds what answers questions in words: the models, their limits, and the operation by which a metric runs. */

import { createModel } from '../assistants/models/chat-completions.js';
import type { Assistant, PreviewRequest } from '../model/chat/assistant.js';
import type { GuestCaller } from '../model/guest/caller.js';
import type { GuestGrant } from '../model/guest/grant.js';
import type { Clock } from '../model/ports.js';
import { Refusal } from '../model/refusal.js';
import { DependencyUnavailable } from '../model/unavailable.js';
import type { Config } from '../platform/config/config.js';
import { errorBody } from '../platform/http/interface/operation.js';
import type { Dispatch } from '../platform/http/wire/bind.js';
import { inProcessTransport } from '../platform/http/wire/in-process.js';
import { createBudget } from '../platform/limits/budget.js';
import type { Limiters } from '../platform/limits/limiter.js';
import type { Log } from '../platform/logs/log.js';
import { definitionSchemas } from '../service/chat/contract/chat.js';
import { newGuestDefinition } from '../service/guest/contract/definition.js';
import { previewGuestMetric } from '../service/guest/contract/metrics.js';
import { metricAnswer } from '../service/metrics/contract.js';

/** Runs a definition by the operation of the guest: the same checks, the same rows, the same messages. */
const previewBy = (dispatch: () => Dispatch): Assistant['preview'] => {
  const [{ method, path } = { method: 'POST' as const, path: '' }] = previewGuestMetric.bindings;
  return async (caller: GuestCaller, asked: PreviewRequest, signal: AbortSignal) => {
    const call = inProcessTransport(dispatch(), async () => caller);
    const { status, body } = await call({ method, path, query: {}, body: asked, bearer: '' }, signal);
    if (status === 200) {
      const { data, totalRecords } = metricAnswer.parse(body);
      return { definition: newGuestDefinition.parse(asked.definition), rows: data, totalRecords };
    }
    const { message } = errorBody.parse(body).error;
    if (status === 400) return { refused: message };
    if (status < 500) throw new Refusal('UNAUTHORIZED', message);
    throw new Refusal('METRIC_QUERY_ERROR', 'The data cannot be reached now. Try again later.', {
      reason: 'datasource-unavailable',
      cause: new DependencyUnavailable('datasource-unavailable', `a preview was answered with status ${status}`),
    });
  };
};

type Parts = Pick<Config, 'settings' | 'models'> & {
  readonly limiters: Limiters;
  readonly clock: Clock;
  readonly log: Log;
};

/** Returns the opener of the assistant. `dispatch` is the service's own, which exists only after its operations do. */
export const assistantOpener =
  ({ settings: { chat }, models, limiters, clock, log }: Parts) =>
  (dispatch: () => Dispatch): Assistant => {
    const counted = { limiters, scope: 'service', clock };
    const ofUser = createBudget(counted, { name: 'chat-user', what: 'questions', perMinute: chat.userPerMinute });
    const ofTenant = createBudget(counted, { name: 'chat-tenant', what: 'questions', perMinute: chat.tenantPerMinute });
    return {
      models: models.map((model) => createModel(model)),
      schemas: definitionSchemas,
      limits: { rounds: chat.rounds, tokens: chat.tokens, timeoutMs: chat.seconds * 1000 },
      assertFew: async ({ id, dataAppId, clientId, userIdentifier }: GuestGrant) => {
        await ofUser(JSON.stringify([dataAppId, clientId, userIdentifier ?? { token: id }]));
        await ofTenant(JSON.stringify([dataAppId, clientId]));
      },
      readDefinition: (written) => newGuestDefinition.safeParse(written).data,
      preview: previewBy(dispatch),
      note: (record) => log.info({ event: 'chat.ended', ...record }, 'a question in words ended'),
    };
  };

export type OpenAssistant = ReturnType<typeof assistantOpener>;
