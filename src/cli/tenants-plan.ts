/** `guestlist tenants plan`: what a roll-out of a template would do, tenant by tenant. */
import { planRolloutCommand } from '../gateway/rollout/commands.js';
import { placeInWords } from '../model/dashboard/setting-words.js';
import type { AnswerOf } from '../platform/http/interface/callable.js';
import { gatewayCommand, printJson } from './kit/declare.js';
import { Exit } from './kit/exit.js';
import { tableText } from './kit/terminal.js';
import { callGateway } from './operator.js';
import { nameColumn, readTenantNames, type TenantNames, withName } from './tenant-names.js';

type Tenant = AnswerOf<typeof planRolloutCommand>['tenants'][number];

/** As git shortens its own. */
const short = (version: string | null): string => version?.slice(0, 12) ?? '-';

export const writeConflicts = (list: readonly Pick<Tenant['conflicts'][number], 'path' | 'kind'>[]): string =>
  list.map(({ path, kind }) => `${placeInWords(path)} (${kind})`).join(', ');

const noteOf = ({ status, isEdited, adoptable, conflicts: list, fault, settings }: Tenant): string => {
  if (fault !== null) return fault;
  if (list.length > 0) return writeConflicts(list);
  if (settings.length > 0) return settings.join(' ');
  if (adoptable !== null) return `equals ${short(adoptable)}: --adopt takes it for that`;
  return status === 'up-to-date' && isEdited === true ? 'has edits of its own' : '';
};

type Planned = { readonly version: string; readonly label: string | null; readonly tenants: readonly Tenant[] };

const write = ({ version, label, tenants }: Planned, names: TenantNames): void => {
  const { title, of } = nameColumn(names);
  const counts = new Map<string, number>();
  for (const { status } of tenants) counts.set(status, (counts.get(status) ?? 0) + 1);
  const rows = tenants.map((one) => [
    one.status,
    one.clientId,
    ...of(one.clientId),
    short(one.fromVersion),
    noteOf(one),
  ]);
  if (rows.length > 0) console.log(tableText(['STATUS', 'TENANT', ...title, 'FROM', 'NOTE'], rows));
  const summary = [...counts].map(([status, count]) => `${count} ${status}`).join(', ');
  console.log(`${label === null ? '' : `${label}, `}version ${version}: ${summary || 'no tenant has a copy'}`);
};

export const tenantsPlan = gatewayCommand('plan')
  .summary('what a roll-out of a template would do to each tenant')
  .description(
    `Says how far content, name and access settings of each tenant's copy are from the template, and what a roll-out would
do. Ends with 1 if a copy cannot be read.`,
  )
  .argument('<template>')
  .action(async (template, { json, url }) => {
    const first = await callGateway(planRolloutCommand, { template }, url);
    const { version, label, settingsFault } = first;
    const tenants = [...first.tenants];
    for (let { next } = first; next !== null; ) {
      const more = await callGateway(planRolloutCommand, { template, version, after: next }, url);
      tenants.push(...more.tenants);
      next = more.next;
    }
    tenants.sort((a, b) => (a.clientId < b.clientId ? -1 : 1));
    const ids = tenants.map(({ clientId }) => clientId);
    const names = await readTenantNames(ids, url);
    const named = tenants.map((one) => withName(names, one));
    if (json) printJson({ template, version, label, settingsFault, tenants: named });
    else write({ version, label, tenants }, names);
    if (!json && settingsFault !== null) console.log(settingsFault);
    if (tenants.some(({ status }) => status === 'unreadable')) throw new Exit();
  });
