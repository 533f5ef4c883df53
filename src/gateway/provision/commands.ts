/**
 * The operators' command that provisions tenants: named ones, or all tenants of the ledger page by page. It is safe to
 * repeat and to interrupt.
 */
import { z } from 'zod';
import { Refusal } from '../../model/refusal.js';
import { mapBounded } from '../../platform/work/bounded.js';
import type { Audit } from '../audit/audit.js';
import { type AdminCommand, adminCommand, changedBy, declareCommand } from '../common/admin-command.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Policies } from '../policy/policies.js';
import { type Policy, policyFor, type Template } from '../policy/policy.js';
import { templateName } from '../policy/schema.js';
import { tenantId } from '../policy/tenant-id.js';
import { askLedger } from './ledger.js';
import type { EnsureResult, Provision } from './provision.js';
import { listActiveClients, tenantPage } from './tenants-list.js';
import { mends } from './verify-copy.js';

const provisionInput = z.strictObject({
  clientIds: z.array(tenantId).min(1).max(100).optional().describe('Default: all active tenants, page by page.'),
  isNew: z.boolean().default(false).describe('May contain tenants that are not in the ledger.'),
  templates: z.array(templateName).min(1).optional().describe("Default: the templates of the policy's onSignUp."),
  after: tenantPage.after,
  limit: z.number().int().min(1).max(100).default(20),
});
type ProvisionInput = z.output<typeof provisionInput>;

const provisioned = z.object({
  tenants: z.array(
    z.object({
      clientId: z.string(),
      outcome: z.enum(['complete', 'partial', 'failed', 'skipped']),
      reason: z.string().optional(),
      dashboards: z.array(
        z.object({
          template: z.string(),
          dashboardId: z.string().optional(),
          outcome: z.enum(['ready', 'failed']),
          reason: z.string().optional(),
          mend: z.string().nullish(),
        }),
      ),
    }),
  ),
  next: z.string().nullable(),
});

export type TenantProvisioningOptions = {
  readonly provision: Pick<Provision, 'ensureEach'>;
  readonly policies: Policies;
  readonly ledger: Ledger;
  readonly audit: Audit;
};

/** Maximum number of tenants in progress at once. */
const maxParallel = 4;

const templatesOf = (policy: Policy, names: readonly string[] | undefined): readonly Template[] => {
  const unknown = (names ?? []).filter((name) => !policy.templates.has(name));
  if (unknown.length > 0) {
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      `The policy has no template ${unknown.join(', ')}. It has: ${[...policy.templates.keys()].join(', ')}.`,
    );
  }
  const chosen = names === undefined ? policy.onSignUp : names.flatMap((name) => policy.templates.get(name) ?? []);
  if (chosen.length > 0) return [...new Set(chosen)];
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    "The policy's onSignUp lists no template: name the templates, or list there what every tenant gets.",
  );
};

const reasonOf = (error: unknown): string =>
  error instanceof Refusal ? (error.reason ?? error.code) : 'unexpected-failure';

const encodeSettled = (settled: EnsureResult) => {
  const { template } = settled.template;
  if ('dashboard' in settled) return { template, dashboardId: settled.dashboard.id, outcome: 'ready' as const };
  const reason = reasonOf(settled.error);
  return { template, outcome: 'failed' as const, reason, mend: mends[reason] ?? null };
};

/** Returns why a tenant in this state is skipped. Undefined if it is not. */
const skipped = (state: string | undefined, isNew: boolean): string | undefined => {
  if (state === undefined) return isNew ? undefined : 'not-in-the-ledger';
  return state === 'active' ? undefined : state;
};

const statesOf = async ({ db, refOf }: Ledger, clientIds: readonly string[]) => {
  const refs = clientIds.map(refOf);
  const rows = await askLedger(
    db.selectFrom('tenants').select(['tenant_ref', 'state']).where('tenant_ref', 'in', refs).execute(),
  );
  const states = new Map(rows.map(({ tenant_ref, state }) => [tenant_ref, state]));
  return (client: string): string | undefined => states.get(refOf(client));
};

const provisionOne = async (
  { provision }: TenantProvisioningOptions,
  base: Policy,
  names: ProvisionInput['templates'],
  client: string,
) => {
  const policy = policyFor(base, client);
  try {
    const templates = templatesOf(policy, names);
    const settled = await provision.ensureEach({ policy, templates, clientId: client, isForced: true });
    const dashboards = settled.map(encodeSettled);
    const ready = dashboards.filter(({ outcome }) => outcome === 'ready').length;
    const some = ready === 0 ? ('failed' as const) : ('partial' as const);
    return { clientId: client, outcome: ready === dashboards.length ? ('complete' as const) : some, dashboards };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { clientId: client, outcome: 'failed' as const, reason: reasonOf(error), dashboards: [] };
  }
};

const provisionTenants = async (options: TenantProvisioningOptions, input: ProvisionInput) => {
  const { ledger, policies, audit } = options;
  const policy = policies.current();
  // Checked before any copy is made. The check needs no overrides, since these change neither the set of templates nor
  // `onSignUp`.
  templatesOf(policy, input.templates);
  const { tenants: clientIds, next } =
    input.clientIds === undefined
      ? await listActiveClients(ledger, input)
      : { tenants: [...new Set(input.clientIds)], next: null };
  const stateOf = clientIds.length === 0 ? () => undefined : await statesOf(ledger, clientIds);
  const tenants = await mapBounded(clientIds, maxParallel, async (client) => {
    const reason = skipped(stateOf(client), input.isNew);
    return reason === undefined
      ? provisionOne(options, policy, input.templates, client)
      : { clientId: client, outcome: 'skipped' as const, reason, dashboards: [] };
  });
  const complete = tenants.filter(({ outcome }) => outcome === 'complete').length;
  const detail = { command: 'tenants-provision', tenants: tenants.length, complete };
  await audit.record({ kind: 'admin', code: 'OK', detail });
  return { tenants, next };
};

export const provisionTenantsCommand = declareCommand(
  'tenants-provision',
  provisionInput,
  provisioned,
  changedBy('publisher', 'support'),
  { title: 'Create missing dashboards', description: 'Creates the dashboards that tenants should have and lack.' },
);

/** The command `tenants-provision`. Each call handles one page; `next` is the cursor of the following page. */
export const tenantsProvisionCommand = (options: TenantProvisioningOptions): AdminCommand =>
  adminCommand(provisionTenantsCommand, (input) => provisionTenants(options, input));
