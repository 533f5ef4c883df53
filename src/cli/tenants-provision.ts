import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { provisionTenantsCommand } from '../gateway/provision/commands.js';
import type { AnswerOf } from '../platform/http/interface/callable.js';
import { mapBounded } from '../platform/work/bounded.js';
import { collect, gatewayCommand } from './kit/declare.js';
import { Exit, WrongCall } from './kit/exit.js';
import { createProgress, shellText } from './kit/terminal.js';
import { callGateway } from './operator.js';
import { readTenantNames, type TenantNames, tenantText, withName } from './tenant-names.js';

type Tenant = AnswerOf<typeof provisionTenantsCommand>['tenants'][number];

const linesOf = (names: TenantNames, { clientId, outcome, reason, dashboards }: Tenant): readonly string[] => [
  `${outcome.padEnd(8)}  ${tenantText(names, clientId)}${reason === undefined ? '' : `  (${reason})`}`,
  ...dashboards
    .filter((dashboard) => dashboard.outcome === 'failed')
    .map(({ template, reason: why, mend }) => `          ${template}: ${why ?? 'unknown'}${mend ? `. ${mend}` : ''}`),
];

const isGood = ({ outcome }: Tenant): boolean => outcome === 'complete' || outcome === 'skipped';

type Asked = { readonly isNew: true | undefined; readonly templates: readonly string[] | undefined };
type Options = {
  readonly asked: Asked;
  readonly url: string | undefined;
  readonly isJson: boolean;
  /** How many calls run at once. */
  readonly width: number;
};

/** What the gateway takes in one call. */
const batchSize = 50;

const failuresShown = 20;

/** Tells each tenant as it is done, and all of them at the end. */
const createTally = (total: number | null, { isJson, url }: Pick<Options, 'isJson' | 'url'>) => {
  const counts = { complete: 0, partial: 0, failed: 0, skipped: 0 };
  const bad: string[] = [];
  const progress = createProgress();
  let done = 0;
  return {
    add: async (tenants: readonly Tenant[]): Promise<void> => {
      const ids = tenants.map(({ clientId }) => clientId);
      const names = await readTenantNames(ids, url);
      progress.end();
      for (const tenant of tenants) {
        done += 1;
        counts[tenant.outcome] += 1;
        if (!isGood(tenant)) bad.push(tenantText(names, tenant.clientId));
        console.log(isJson ? JSON.stringify(withName(names, tenant)) : linesOf(names, tenant).join('\n'));
      }
      progress.say(total === null ? `${done} tenants` : `${done} of ${total} tenants`);
    },
    /** Returns whether all are complete. */
    end: (): boolean => {
      progress.end();
      const more = bad.length > failuresShown ? `, and ${bad.length - failuresShown} more` : '';
      if (bad.length > 0) console.error(`not complete: ${bad.slice(0, failuresShown).join(', ')}${more}`);
      const summary = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`);
      console.error(summary.join(', '));
      return bad.length === 0;
    },
  };
};

/** Page after page, each told when it is done: what was stopped goes on with `--after`. */
const runAll = async (options: Options, first: string | undefined): Promise<boolean> => {
  const { asked, url } = options;
  const tally = createTally(null, options);
  let after = first;
  do {
    const input = { ...asked, limit: batchSize, after };
    const page: AnswerOf<typeof provisionTenantsCommand> = await callGateway(provisionTenantsCommand, input, url);
    await tally.add(page.tenants);
    after = page.next ?? undefined;
    if (after !== undefined) console.error(`to go on from here: --after ${shellText(after)}`);
  } while (after !== undefined);
  return tally.end();
};

/** Any number of them, batch by batch. A call that fails ends it, once those that are under way are told. */
const runNamed = async (options: Options, clientIds: readonly string[]): Promise<boolean> => {
  const { asked, url, width } = options;
  const tally = createTally(clientIds.length, options);
  const starts = Array.from({ length: Math.ceil(clientIds.length / batchSize) }, (_, index) => index * batchSize);
  let fault: unknown;
  await mapBounded(starts, width, async (start) => {
    if (fault !== undefined) return;
    try {
      const input = { ...asked, clientIds: clientIds.slice(start, start + batchSize) };
      await tally.add((await callGateway(provisionTenantsCommand, input, url)).tenants);
    } catch (error) {
      fault ??= error;
    }
  });
  const isComplete = tally.end();
  if (fault !== undefined) throw fault;
  return isComplete;
};

/** One id in each line; blank lines are left out. `-`: standard input. */
const readIds = async (file: string): Promise<readonly string[]> => {
  try {
    const content = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
    return content.split(/\r?\n/).filter((line) => line.trim() !== '');
  } catch (cause) {
    throw new WrongCall(`--file ${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
};

const readWidth = (given: string): number => {
  const width = Number(given);
  if (Number.isInteger(width) && width >= 1 && width <= 16) return width;
  throw new InvalidArgumentError('Give a whole number from 1 to 16.');
};

const wrongChoice =
  'tenants provision takes either --all, or tenants: as arguments, by --tenant, or one a line by --file (- is standard input)';

export const tenantsProvision = gatewayCommand('provision')
  .summary('make what is missing')
  .description(
    'Makes the dashboards that tenants miss. Give --all, or the tenants: as words, by --tenant or by --file. Ends with a summary, and with 1 if a tenant is not complete. Safe to repeat.',
  )
  .argument('[ids...]', 'the tenants')
  .option('--tenant <id>', 'a tenant; may be given several times', collect)
  .option('--file <path>', 'a file with one tenant a line; - is standard input')
  .option('--all', 'all tenants')
  .option('--after <cursor>', 'with --all: go on where an earlier run ended')
  .option('--new', 'also tenants that the gateway does not know yet')
  .option(
    '--template <template>',
    "a template; may be given several times; left out: those of the policy's onSignUp",
    collect,
  )
  .addOption(new Option('--parallel <n>', 'how many calls run at once, from 1 to 16').argParser(readWidth).default(2))
  .action(async (ids, { tenant = [], file, all = false, after, new: isNew, template, parallel, json = false, url }) => {
    const listed = file === undefined ? [] : await readIds(file);
    const clientIds = [...new Set([...ids, ...tenant, ...listed])];
    if (file !== undefined && listed.length === 0) throw new WrongCall(`--file ${file} names no tenant`);
    if (all === clientIds.length > 0) throw new WrongCall(wrongChoice);
    const options = { asked: { isNew, templates: template }, url, isJson: json, width: parallel };
    const isComplete = all ? await runAll(options, after) : await runNamed(options, clientIds);
    if (!isComplete) throw new Exit();
  });
