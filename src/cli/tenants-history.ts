/** `guestlist tenants history` and `check`: what a template was, and whether it is fit for the tenants. */
import { checkTemplateCommand, listEditionsCommand } from '../gateway/rollout/commands.js';
import { parseOptions } from './kit/options.js';
import { tableText } from './kit/terminal.js';
import { callGateway } from './operator.js';
import { readCount, WrongCall } from './wrong-call.js';

export const templateUsage = `  guestlist tenants history TEMPLATE [--limit N]
                                             who changed a template when, what changed, and which copies have it
  guestlist tenants check TEMPLATE [--tenant A,B] [--count N]
                                             run every metric of a template for some tenants, each with its own rows, and
                                             name what fails, is empty, is cut off or is slow. Ends with 1 where one fails`;

const oneTemplate = (command: string, positionals: readonly string[]): string => {
  const [template, ...rest] = positionals;
  if (template !== undefined && rest.length === 0) return template;
  throw new WrongCall(`tenants ${command} takes the name of one template`);
};

export const tenantsHistory = async (args: readonly string[]): Promise<number> => {
  const options = { limit: { type: 'string' }, url: { type: 'string' }, json: { type: 'boolean' } } as const;
  const { values, positionals } = parseOptions({ args: [...args], allowPositionals: true, options });
  const template = oneTemplate('history', positionals);
  const limit = values.limit === undefined ? {} : { limit: readCount('--limit', values.limit) };
  const answer = await callGateway(listEditionsCommand, { template, ...limit }, values.url);
  if (values.json === true) {
    console.log(JSON.stringify(answer, null, 2));
    return 0;
  }
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
  return 0;
};

export const tenantsCheck = async (args: readonly string[]): Promise<number> => {
  const options = {
    tenant: { type: 'string' },
    count: { type: 'string' },
    url: { type: 'string' },
    json: { type: 'boolean' },
  } as const;
  const { values, positionals } = parseOptions({ args: [...args], allowPositionals: true, options });
  const template = oneTemplate('check', positionals);
  const input = {
    ...(values.tenant === undefined ? {} : { clientIds: values.tenant.split(',') }),
    ...(values.count === undefined ? {} : { tenants: readCount('--count', values.count) }),
  };
  const answer = await callGateway(checkTemplateCommand, { template, ...input }, values.url);
  const isFailed = answer.faults.some(({ level }) => level === 'error');
  if (values.json === true) console.log(JSON.stringify(answer, null, 2));
  else {
    const rows = answer.faults.map(({ level, clientId, metric, text }) => [
      level,
      clientId ?? 'all',
      metric ?? '-',
      text,
    ]);
    if (rows.length > 0) console.log(tableText(['LEVEL', 'TENANT', 'METRIC', 'FAULT'], rows));
    const metrics = answer.tenants.reduce((sum, one) => sum + one.metrics, 0);
    console.log(
      `${metrics} metrics of ${answer.tenants.length} tenants were run: ${isFailed ? 'some fail' : 'none fails'}`,
    );
  }
  return isFailed ? 1 : 0;
};
