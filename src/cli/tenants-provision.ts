import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { AnswerOf } from '../gateway/common/admin-command.js';
import { provisionTenantsCommand } from '../gateway/provision/commands.js';
import { mapBounded } from '../platform/bounded.js';
import { parseOptions } from './kit/options.js';
import { createProgress } from './kit/terminal.js';
import { callGateway } from './operator.js';
import { WrongCall } from './wrong-call.js';

type Tenant = AnswerOf<typeof provisionTenantsCommand>['tenants'][number];

const linesOf = ({ clientId, outcome, reason, dashboards }: Tenant): readonly string[] => [
  `${outcome.padEnd(8)}  ${clientId}${reason === undefined ? '' : `  (${reason})`}`,
  ...dashboards
    .filter((dashboard) => dashboard.outcome === 'failed')
    .map(({ template, reason: why, mend }) => `          ${template}: ${why ?? 'unknown'}${mend ? `. ${mend}` : ''}`),
];

const isGood = ({ outcome }: Tenant): boolean => outcome === 'complete' || outcome === 'skipped';

type Asked = { readonly isNew?: true; readonly templates?: readonly string[] };
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
const createTally = (total: number | null, isJson: boolean) => {
  const counts = { complete: 0, partial: 0, failed: 0, skipped: 0 };
  const bad: string[] = [];
  const progress = createProgress();
  let done = 0;
  return {
    add: (tenants: readonly Tenant[]): void => {
      progress.end();
      for (const tenant of tenants) {
        done += 1;
        counts[tenant.outcome] += 1;
        if (!isGood(tenant)) bad.push(tenant.clientId);
        console.log(isJson ? JSON.stringify(tenant) : linesOf(tenant).join('\n'));
      }
      progress.say(total === null ? `${done} tenants` : `${done} of ${total} tenants`);
    },
    /** Answers the exit code. */
    end: (): number => {
      progress.end();
      const more = bad.length > failuresShown ? `, and ${bad.length - failuresShown} more` : '';
      if (bad.length > 0) console.error(`not complete: ${bad.slice(0, failuresShown).join(', ')}${more}`);
      const summary = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`);
      console.error(summary.join(', '));
      return bad.length === 0 ? 0 : 1;
    },
  };
};

/** Page after page, each told when it is done: what was stopped goes on with `--after`. */
const runAll = async ({ asked, url, isJson }: Options, first: string | undefined): Promise<number> => {
  const tally = createTally(null, isJson);
  let after = first;
  do {
    const input = { ...asked, limit: batchSize, ...(after === undefined ? {} : { after }) };
    const page: AnswerOf<typeof provisionTenantsCommand> = await callGateway(provisionTenantsCommand, input, url);
    tally.add(page.tenants);
    after = page.next ?? undefined;
    if (after !== undefined) console.error(`to go on from here: --after ${after}`);
  } while (after !== undefined);
  return tally.end();
};

/** Any number of them, batch by batch. A call that fails ends it, once those that are under way are told. */
const runNamed = async ({ asked, url, isJson, width }: Options, clientIds: readonly string[]): Promise<number> => {
  const tally = createTally(clientIds.length, isJson);
  const starts = Array.from({ length: Math.ceil(clientIds.length / batchSize) }, (_, index) => index * batchSize);
  let fault: unknown;
  await mapBounded(starts, width, async (start) => {
    if (fault !== undefined) return;
    try {
      const input = { ...asked, clientIds: clientIds.slice(start, start + batchSize) };
      tally.add((await callGateway(provisionTenantsCommand, input, url)).tenants);
    } catch (error) {
      fault ??= error;
    }
  });
  const code = tally.end();
  if (fault !== undefined) throw fault;
  return code;
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

const widthOf = (given: string): number => {
  const width = Number(given);
  if (Number.isInteger(width) && width >= 1 && width <= 16) return width;
  throw new WrongCall(`--parallel takes a whole number from 1 to 16, not ${JSON.stringify(given)}`);
};

const wrongChoice =
  'tenants provision takes either --all, or tenants: as arguments, by --tenant, or one a line by --file (- is standard input)';

/** `guestlist tenants provision`. Answers 1 where a dashboard could not be made. */
export const tenantsProvision = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: {
      tenant: { type: 'string', multiple: true, default: [] },
      file: { type: 'string' },
      all: { type: 'boolean', default: false },
      new: { type: 'boolean', default: false },
      template: { type: 'string', multiple: true },
      parallel: { type: 'string', default: '2' },
      after: { type: 'string' },
      url: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const { file, template, url, json: isJson } = values;
  const listed = file === undefined ? [] : await readIds(file);
  const clientIds = [...new Set([...positionals, ...values.tenant, ...listed])];
  if (file !== undefined && listed.length === 0) throw new WrongCall(`--file ${file} names no tenant`);
  if (values.all === clientIds.length > 0) throw new WrongCall(wrongChoice);
  const asked = { ...(values.new ? { isNew: true as const } : {}), ...(template && { templates: template }) };
  const options = { asked, url, isJson, width: widthOf(values.parallel) };
  return values.all ? runAll(options, values.after) : runNamed(options, clientIds);
};
