/**
 * The operators' commands for roll-outs. A command that takes long answers at once and continues in the background;
 * `rollout-status` reports its progress.
 */
import { z } from 'zod';
import { identifier } from '../../platform/http/interface/fields.js';
import type { Log } from '../../platform/logs/log.js';
import {
  type AdminCommand,
  adminCommand,
  changedBy,
  declareCommand,
  moment,
  noInput,
  readBy,
  readers,
  written,
} from '../common/admin-command.js';
import type { Eraser } from '../common/eraser.js';
import type { Ledger } from '../ledger/ledger.js';
import type { FinishWork } from '../ledger/takeover.js';
import type { Policies } from '../policy/policies.js';
import { templateName } from '../policy/schema.js';
import type { TemplateContent } from '../provision/template-version.js';
import { type CheckDeps, checkedTemplate, checkTemplate } from './check.js';
import { type EditionDeps, findVersion, listEditions, recordTemplate, templateHistory } from './editions.js';
import { createRolloutLedger } from './ledger.js';
import type { RolloutLedger, RolloutOptions } from './model.js';
import { planPage, planRollout, rolloutStatus, statusPage } from './plan.js';
import { createRollouts, type RolloutDeps, type StartedRollout } from './rollout.js';

export type RolloutCommandsOptions = Omit<RolloutDeps, 'ledger'> & {
  readonly ledger: Ledger;
  readonly policies: Policies;
  readonly log: Log;
};

const version = z.string().regex(/^[0-9a-f]{64}$/, 'a version as rollout-plan answers it');

const planInput = z.strictObject({
  template: templateName,
  after: z.string().max(255).default(''),
  limit: z.number().int().min(1).max(500).default(200),
  version: version.optional(),
  showsValues: z.boolean().optional(),
});

const isRising = (steps: readonly number[]): boolean =>
  steps.every((step, index) => index === 0 || step > (steps[index - 1] ?? 0));

const applyInput = z.strictObject({
  template: templateName,
  version: version.optional(),
  label: identifier.optional(),
  /** The clients in the first cohort. */
  canary: z.array(identifier).max(1000).default([]),
  steps: z
    .array(z.number().positive().max(100))
    .max(100)
    .refine(isRising, 'each percentage above the one before')
    .default([100]),
  maxFailures: z.number().int().min(0).default(0),
  onConflict: z.enum(['leave', 'keep-tenant']).default('leave'),
  /** Conflicts as `rollout-plan` answers them, each with whose value that tenant's copy gets. */
  choices: z
    .array(z.strictObject({ clientId: identifier, path: z.string().max(2000), take: z.enum(['template', 'tenant']) }))
    .max(5000)
    .default([]),
  isAdopting: z.boolean().default(false),
  isPausing: z.boolean().default(false),
});

const historyInput = z.strictObject({ template: templateName, limit: z.number().int().min(1).max(100).default(20) });

const checkInput = z.strictObject({
  template: templateName,
  clientIds: z.array(identifier).min(1).max(20).optional(),
  tenants: z.number().int().min(1).max(20).default(3),
});

const idInput = z.strictObject({ id: z.uuid('the id of a roll-out, as rollout-list answers it') });

const statusInput = idInput.extend({
  after: z.string().max(1000).optional(),
  limit: z.number().int().min(1).max(1000).optional().describe('Left out: all.'),
});

// The save that it names is in the audit.
export const recordTemplateCommand = declareCommand(
  'template-record',
  z.strictObject({ template: templateName }),
  z.object({ template: z.string(), version: z.string() }),
  readBy('author', 'publisher'),
);

export const listEditionsCommand = declareCommand(
  'template-history',
  historyInput,
  templateHistory,
  readBy('author', 'publisher', 'auditor'),
  { title: 'List editions', description: 'Lists the editions of a template with their changes.' },
);

export const readVersion = declareCommand(
  'template-version',
  z.strictObject({ template: templateName, version }),
  z.object({
    template: z.string(),
    version: z.string(),
    content: written<TemplateContent>(),
    label: z.string().nullable(),
  }),
  readBy('author', 'publisher', 'auditor'),
);

export const checkTemplateCommand = declareCommand(
  'template-check',
  checkInput,
  checkedTemplate,
  readBy('author', 'publisher'),
);

// A tenant's side of a conflict may be what its users wrote into a metric, such as a value of a row.
export const planRolloutCommand = declareCommand(
  'rollout-plan',
  planInput,
  planPage,
  {
    ...readBy(...readers),
    narrower: { field: 'showsValues', roles: ['author', 'publisher', 'auditor'], reads: 'rows' },
  },
  { title: 'Plan a roll-out', description: 'Says what a roll-out would do to each tenant. Does nothing.' },
);

const begun = z.object({ id: z.string() });

export const applyRollout = declareCommand('rollout-apply', applyInput, begun, changedBy('publisher'), {
  title: 'Roll out a template',
  description: 'Brings a changed template to tenants. What each tenant changed is kept. Plan it first.',
  isDestructive: true,
});

export const resumeRollout = declareCommand('rollout-resume', idInput, begun, changedBy('publisher'), {
  title: 'Continue a roll-out',
  description: 'Continues a roll-out that waits or stopped.',
});

export const rollBack = declareCommand('rollout-rollback', idInput, begun, changedBy('publisher'), {
  title: 'Take a roll-out back',
  description: 'Gives each copy back what it had before the roll-out.',
  isDestructive: true,
});

export const readRollout = declareCommand('rollout-status', statusInput, statusPage, readBy(...readers), {
  title: 'Read a roll-out',
  description: 'Reads the progress of a roll-out, and what failed.',
});

const newest = z.object({
  rollouts: z.array(
    z.object({
      id: z.string(),
      template: z.string(),
      version: z.string(),
      state: z.string(),
      startedBy: z.string().nullable(),
      startedAt: moment,
    }),
  ),
});

export const listRollouts = declareCommand('rollout-list', noInput, newest, readBy(...readers), {
  title: 'List roll-outs',
  description: 'Lists the newest roll-outs with their state.',
});

export type RolloutCommands = {
  readonly commands: readonly AdminCommand[];
  /** Erases the stored before-images, which contain what a tenant wrote. */
  readonly eraser: Eraser;
  /** Continues interrupted roll-outs. */
  readonly takeOver: FinishWork;
};

type GivenChoice = z.output<typeof applyInput>['choices'][number];

/** The choices by tenant reference: a roll-out is stored, and outlives the tenant's name. */
const choicesOf = (given: readonly GivenChoice[], refOf: Ledger['refOf']): NonNullable<RolloutOptions['choices']> => {
  const clients = [...new Set(given.map(({ clientId }) => clientId))];
  const ofClient = (id: string) =>
    given.filter(({ clientId }) => clientId === id).map(({ path, take }) => [path, take]);
  return Object.fromEntries(clients.map((id) => [refOf(id), Object.fromEntries(ofClient(id))]));
};

/** What a template was, is, and would do. */
const templateCommands = (deps: EditionDeps & CheckDeps, policies: Policies): readonly AdminCommand[] => [
  adminCommand(recordTemplateCommand, async ({ template }, { name }) => {
    const { version } = await recordTemplate(deps, policies.current(), template, name);
    return { template, version };
  }),
  adminCommand(listEditionsCommand, (input) => listEditions(deps, policies.current(), input)),
  adminCommand(readVersion, (input) => findVersion(deps, input)),
  adminCommand(checkTemplateCommand, (input, { seesData }) =>
    checkTemplate(deps, policies.current(), { ...input, seesData }),
  ),
];

const createEraser = (ledger: RolloutLedger): Eraser => ({
  where: 'roll-outs',
  erase: async ({ tenantRef }, lock) => ({ erased: { rows: await ledger.under(lock).forgetTenant(tenantRef) } }),
});

export const createRolloutCommands = (options: RolloutCommandsOptions): RolloutCommands => {
  const { policies, log, versions, upstream } = options;
  const ledger = createRolloutLedger(options.ledger, options.clock);
  const rollouts = createRollouts({ ...options, ledger });
  const underWay = ({ id, done }: StartedRollout): { readonly id: string } => {
    done.catch((err: unknown) =>
      log.error({ event: 'rollout.interrupted', err, rollout: id }, 'a roll-out was interrupted; it will be continued'),
    );
    return { id };
  };
  const commands = [
    adminCommand(planRolloutCommand, (input) =>
      planRollout({ upstream, versions, ledger, capabilities: options.capabilities }, policies.current(), input),
    ),
    adminCommand(applyRollout, async ({ canary, choices, ...input }, { name: by }) => {
      const { refOf } = options.ledger;
      const wanted = { ...input, canary: canary.map(refOf), choices: choicesOf(choices, refOf), by };
      return underWay(await rollouts.start(policies.current(), wanted));
    }),
    adminCommand(resumeRollout, async ({ id }) => underWay(await rollouts.resume(policies.current(), id))),
    adminCommand(rollBack, async ({ id }) => underWay(await rollouts.rollback(id))),
    adminCommand(readRollout, ({ id, after, limit }) =>
      rolloutStatus(ledger, id, {
        ...(after === undefined ? {} : { after }),
        ...(limit === undefined ? {} : { limit }),
      }),
    ),
    adminCommand(listRollouts, async () => ({
      rollouts: (await ledger.list()).map(({ id, template, version: of, state, startedBy, startedAt }) => ({
        ...{ id, template, version: of, state },
        ...{ startedBy, startedAt },
      })),
    })),
    ...templateCommands({ upstream, versions, ledger, capabilities: options.capabilities }, policies),
  ];
  const takeOver: FinishWork = () =>
    rollouts.takeOver(policies.current(), {
      begun: (rollout) => {
        log.info({ event: 'rollout.resumed', rollout: rollout.id }, 'continuing an interrupted roll-out');
        underWay(rollout);
      },
      failed: (id, err) =>
        log.warn(
          { event: 'rollout.not_resumed', err, rollout: id },
          'an interrupted roll-out cannot go on yet; retrying',
        ),
    });
  return { commands, eraser: createEraser(ledger), takeOver };
};
