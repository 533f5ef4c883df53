/** `guestlist tenants history` and `check`: what a template was, and whether it is fit for the tenants. */

import { checkTemplateCommand, listEditionsCommand } from '../gateway/rollout/commands.js';
import { counted } from '../model/texts/counted.js';
import { gatewayCommand, printJson, readCount, readNames } from './kit/declare.js';
import { Exit } from './kit/exit.js';
import { tableText } from './kit/terminal.js';
import { callGateway } from './operator.js';
import { nameColumn, readTenantNames, withName } from './tenant-names.js';

export const tenantsHistory = gatewayCommand('history')
  .summary('who changed a template when, what changed, and which copies have it')
  .argument('<template>')
  .option('--limit <n>', 'at most so many editions', readCount)
  .action(async (template, { limit, json, url }) => {
    const answer = await callGateway(listEditionsCommand, { template, limit }, url);
    if (json) return printJson(answer);
    const rows = answer.editions.map(({ number, version, label, at, by, copies, changes }) => [
      String(number),
      label ?? version.slice(0, 12),
      at.slice(0, 16).replace('T', ' '),
      by ?? '-',
      String(copies),
      changes.join(' '),
    ]);
    console.log(tableText(['EDITION', 'VERSION', 'AT', 'BY', 'COPIES', 'CHANGES'], rows));
    if (answer.unpublished.length > 0) console.log(`not rolled out yet: ${answer.unpublished.join(' ')}`);
  });

export const tenantsCheck = gatewayCommand('check')
  .summary('run every metric of a template for some tenants')
  .description(
    `Runs every metric of a template for some tenants, each with its own rows, and names what fails, is empty, is cut off or is
slow. Ends with 1 if a metric fails.`,
  )
  .argument('<template>')
  .option('--tenant <ids>', 'these tenants, with commas between them', readNames)
  .option('--count <n>', 'so many tenants', readCount)
  .action(async (template, { tenant: clientIds, count, json, url }) => {
    const answer = await callGateway(checkTemplateCommand, { template, clientIds, tenants: count }, url);
    const isFailed = answer.faults.some(({ level }) => level === 'error');
    const ids = [...answer.faults, ...answer.tenants].flatMap(({ clientId }) => clientId ?? []);
    const names = await readTenantNames(ids, url);
    if (json) {
      const named = answer.tenants.map((one) => withName(names, one));
      printJson({ ...answer, tenants: named });
    } else {
      const { title, of } = nameColumn(names);
      const rows = answer.faults.map(({ level, clientId, metric, text }) => [
        level,
        clientId ?? 'all',
        ...of(clientId),
        metric ?? '-',
        text,
      ]);
      if (rows.length > 0) console.log(tableText(['LEVEL', 'TENANT', ...title, 'METRIC', 'FAULT'], rows));
      const metrics = answer.tenants.reduce((sum, one) => sum + one.metrics, 0);
      console.log(
        `Ran ${counted(metrics, 'metric')} of ${counted(answer.tenants.length, 'tenant')}: ${isFailed ? 'some fail' : 'none fails'}`,
      );
    }
    if (isFailed) throw new Exit();
  });
