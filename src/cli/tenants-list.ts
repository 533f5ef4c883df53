import { z } from 'zod';
import { parseOptions } from './kit/options.js';
import { tableText } from './kit/terminal.js';
import { callGateway } from './operator.js';
import { readCount } from './wrong-call.js';

const answer = z.object({
  tenants: z.array(
    z.object({
      clientId: z.string().nullable(),
      tenantRef: z.string(),
      state: z.string(),
      outcome: z.string(),
      dashboards: z.array(
        z.object({
          template: z.string(),
          templateVersion: z.string().nullable(),
          step: z.string(),
          failure: z.object({ step: z.string().nullable(), reason: z.string().nullable() }).nullable(),
        }),
      ),
    }),
  ),
  next: z.string().nullable(),
});
type Dashboard = z.output<typeof answer>['tenants'][number]['dashboards'][number];

const describe = ({ template, templateVersion, step, failure }: Dashboard): string => {
  const version = templateVersion === null ? '' : `@${templateVersion.slice(0, 8)}`;
  if (failure !== null) return `${template}${version} failed at ${failure.step ?? '?'}: ${failure.reason ?? '?'}`;
  return step === 'ready' ? `${template}${version}` : `${template}${version} (${step})`;
};

const write = ({ tenants, next }: z.output<typeof answer>): void => {
  const rows = tenants.map(({ clientId, tenantRef, state, outcome, dashboards }) => [
    clientId ?? `(erased: ${tenantRef.slice(0, 12)})`,
    state,
    outcome,
    dashboards.map(describe).join(', '),
  ]);
  console.log(tableText(['TENANT', 'STATE', 'OUTCOME', 'DASHBOARDS'], rows));
  if (next !== null) console.log(`\nThere are more: --after ${next}`);
};

/** `guestlist tenants list`. */
export const tenantsList = async (args: readonly string[]): Promise<number> => {
  const text = { type: 'string' } as const;
  const { values } = parseOptions({
    args: [...args],
    options: {
      tenant: text,
      state: text,
      outcome: text,
      template: text,
      version: text,
      limit: text,
      after: text,
      url: text,
      json: { type: 'boolean' },
    },
  });
  const { tenant, limit, url, json, ...filters } = values;
  const input = {
    ...filters,
    ...(tenant === undefined ? {} : { clientId: tenant }),
    ...(limit === undefined ? {} : { limit: readCount('--limit', limit) }),
  };
  const result = await callGateway('tenants-list', input, url);
  if (json === true) console.log(JSON.stringify(result, null, 2));
  else write(answer.parse(result));
  return 0;
};
