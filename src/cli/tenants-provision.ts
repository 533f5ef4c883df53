import { parseArgs } from 'node:util';
import { z } from 'zod';
import { callGateway } from './operator.js';
import { WrongCall } from './wrong-call.js';

const answer = z.object({
  tenants: z.array(
    z.object({
      clientId: z.string(),
      outcome: z.enum(['complete', 'partial', 'failed', 'skipped']),
      reason: z.string().optional(),
      dashboards: z.array(
        z.object({
          template: z.string(),
          outcome: z.enum(['ready', 'failed']),
          reason: z.string().optional(),
          mend: z.string().nullish(),
        }),
      ),
    }),
  ),
  next: z.string().nullable(),
});
type Tenant = z.output<typeof answer>['tenants'][number];

const linesOf = ({ clientId, outcome, reason, dashboards }: Tenant): readonly string[] => [
  `${outcome.padEnd(8)}  ${clientId}${reason === undefined ? '' : `  (${reason})`}`,
  ...dashboards
    .filter((dashboard) => dashboard.outcome === 'failed')
    .map(({ template, reason: why, mend }) => `          ${template}: ${why ?? 'unknown'}${mend ? `. ${mend}` : ''}`),
];

const isGood = ({ outcome }: Tenant): boolean => outcome === 'complete' || outcome === 'skipped';

type Given = {
  readonly tenant?: string[];
  readonly all?: boolean;
  readonly new?: boolean;
  readonly template?: string[];
};

const inputOf = ({ tenant, new: isNew, template }: Given) => ({
  ...(tenant === undefined ? {} : { clientIds: tenant }),
  ...(isNew === true ? { isNew } : {}),
  ...(template === undefined ? {} : { templates: template }),
});

/** Page after page, each told when it is done: what was stopped goes on with `--after`. */
const run = async (input: object, first: string | undefined, url: string | undefined, isJson: boolean) => {
  const counts = { complete: 0, partial: 0, failed: 0, skipped: 0 };
  let after = first;
  let isAllGood = true;
  do {
    const page = answer.parse(
      await callGateway('tenants-provision', { ...input, ...(after === undefined ? {} : { after }) }, url),
    );
    for (const tenant of page.tenants) {
      counts[tenant.outcome] += 1;
      isAllGood &&= isGood(tenant);
      console.log(isJson ? JSON.stringify(tenant) : linesOf(tenant).join('\n'));
    }
    after = page.next ?? undefined;
    if (after !== undefined) console.error(`to go on from here: --after ${after}`);
  } while (after !== undefined);
  const summary = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`);
  console.error(summary.join(', '));
  return isAllGood ? 0 : 1;
};

/** `guestlist tenants provision`. Answers 1 where a dashboard could not be made. */
export const tenantsProvision = async (args: readonly string[]): Promise<number> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      tenant: { type: 'string', multiple: true },
      all: { type: 'boolean' },
      new: { type: 'boolean' },
      template: { type: 'string', multiple: true },
      after: { type: 'string' },
      url: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  if ((values.tenant === undefined) === (values.all !== true)) {
    throw new WrongCall('tenants provision takes either --all, or --tenant once or several times');
  }
  return run(inputOf(values), values.after, values.url, values.json === true);
};
