import type { AnswerOf } from '../gateway/common/admin-command.js';
import { listTenantsCommand } from '../gateway/provision/tenants-list.js';
import { parseOptions } from './kit/options.js';
import { tableText } from './kit/terminal.js';
import { callGateway } from './operator.js';
import { readCount } from './wrong-call.js';

type Answer = AnswerOf<typeof listTenantsCommand>;
type Dashboard = Answer['tenants'][number]['dashboards'][number];

const describe = ({ template, templateVersion, step, failure }: Dashboard): string => {
  const version = templateVersion === null ? '' : `@${templateVersion.slice(0, 8)}`;
  if (failure !== null) return `${template}${version} failed at ${failure.step ?? '?'}: ${failure.reason ?? '?'}`;
  return step === 'ready' ? `${template}${version}` : `${template}${version} (${step})`;
};

const write = ({ tenants, next }: Answer): void => {
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
  const result = await callGateway(listTenantsCommand, input, url);
  if (json === true) console.log(JSON.stringify(result, null, 2));
  else write(result);
  return 0;
};
