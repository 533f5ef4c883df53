import { Option } from '@commander-js/extra-typings';
import { listTenantsCommand } from '../gateway/provision/tenants-list.js';
import type { AnswerOf } from '../platform/http/interface/callable.js';
import { gatewayCommand, printJson, readCount } from './kit/declare.js';
import { shellText, tableText } from './kit/terminal.js';
import { callGateway } from './operator.js';
import { nameColumn, readTenantNames, type TenantNames, withName } from './tenant-names.js';

type Answer = AnswerOf<typeof listTenantsCommand>;
type Dashboard = Answer['tenants'][number]['dashboards'][number];

const describe = ({ template, templateVersion, step, failure }: Dashboard): string => {
  const version = templateVersion === null ? '' : `@${templateVersion.slice(0, 8)}`;
  if (failure !== null) return `${template}${version} failed at ${failure.step ?? '?'}: ${failure.reason ?? '?'}`;
  return step === 'ready' ? `${template}${version}` : `${template}${version} (${step})`;
};

const write = ({ tenants, next }: Answer, names: TenantNames): void => {
  const { title, of } = nameColumn(names);
  const rows = tenants.map(({ clientId, tenantRef, state, outcome, dashboards }) => [
    clientId ?? `(erased: ${tenantRef.slice(0, 12)})`,
    ...of(clientId),
    state,
    outcome,
    dashboards.map(describe).join(', '),
  ]);
  console.log(tableText(['TENANT', ...title, 'STATE', 'OUTCOME', 'DASHBOARDS'], rows));
  if (next !== null) console.log(`\nThere are more: --after ${shellText(next)}`);
};

const { state, outcome } = listTenantsCommand.input.shape;

export const tenantsList = gatewayCommand('list')
  .summary('who there is, and what there is of their dashboards')
  .option('--tenant <id>', 'one tenant')
  .addOption(new Option('--state <state>', 'only tenants in this state').choices(state.unwrap().options))
  .addOption(
    new Option('--outcome <outcome>', 'only tenants whose dashboards are so').choices(outcome.unwrap().options),
  )
  .option('--template <template>', 'only tenants with a dashboard of this template')
  .option('--version <version>', 'only tenants with a dashboard of this version of a template')
  .option('--limit <n>', 'at most so many', readCount)
  .option('--after <cursor>', 'go on where an earlier list ended')
  .action(async ({ tenant, json, url, ...filters }) => {
    const result = await callGateway(listTenantsCommand, { ...filters, clientId: tenant }, url);
    const ids = result.tenants.flatMap(({ clientId }) => clientId ?? []);
    const names = await readTenantNames(ids, url);
    if (json) printJson({ ...result, tenants: result.tenants.map((one) => withName(names, one)) });
    else write(result, names);
  });
