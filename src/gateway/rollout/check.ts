/**
 * Checks a template before a roll-out: every metric is run for some tenants, each with its own scope, as it would be
 * after the roll-out. Says what fails, is empty, is cut off or is slow. Answers no rows and writes nothing.
 */
import { z } from 'zod';
import type { DashboardContent, TriedMetric } from '../../model/dashboard/dashboard.js';
import { Refusal } from '../../model/refusal.js';
import type { Policy } from '../policy/policy.js';
import { createCopies } from './copies.js';
import { type DriftContext, detectDrift, rememberVersions } from './drift.js';
import { recordTemplate } from './editions.js';
import type { RolloutLedger, TenantDashboard } from './model.js';
import type { TemplateVersions } from './template-versions.js';
import { tryMetrics } from './try-metrics.js';
import { listUnreadable, type UnreadableDeps } from './unreadable.js';

export type CheckDeps = UnreadableDeps & {
  readonly ledger: Pick<RolloutLedger, 'listDashboards'>;
  readonly versions: TemplateVersions;
};

export type CheckInput = {
  readonly template: string;
  /** Left out: the first `tenants` copies in the order of their keyed references, which is as good as chance. */
  readonly clientIds?: readonly string[] | undefined;
  readonly tenants: number;
  /** Whether the answer may tell how queries ended. If not, no metric is run. */
  readonly seesData: boolean;
};

const checkFault = z.object({
  /** An error would reach that tenant's users; a warning may be as it should be. */
  level: z.enum(['error', 'warning']),
  /** Null: the fault is of the template, for every tenant. */
  clientId: z.string().nullable(),
  /** Null: the fault is of the copy. */
  metric: z.string().nullable(),
  text: z.string(),
});
type CheckFault = Readonly<z.output<typeof checkFault>>;

export const checkedTemplate = z.object({
  template: z.string(),
  version: z.string(),
  tenants: z.array(z.object({ clientId: z.string(), metrics: z.number() })),
  faults: z.array(checkFault),
});

const notRun: CheckFault = {
  ...{ level: 'warning', clientId: null, metric: null },
  text: 'No metric was run: how queries end tells of rows, and you may not see data of tenants.',
};

const slowMs = 3_000;
const pageSize = 200;

const warningsOf = ({ measured }: TriedMetric): readonly string[] =>
  measured === undefined
    ? []
    : [
        ...(measured.isEmpty ? ['It has no rows for this tenant.'] : []),
        ...(measured.isTruncated ? ['It has more rows than an answer may have, so some are left out.'] : []),
        ...(measured.milliseconds > slowMs ? [`It took ${(measured.milliseconds / 1000).toFixed(1)} s.`] : []),
      ];

const faultsOf = (clientId: string, tried: TriedMetric): readonly CheckFault[] => {
  const fault = { clientId, metric: tried.name };
  if (tried.outcome === 'failed')
    return [{ ...fault, level: 'error', text: tried.message ?? 'It cannot be answered.' }];
  const untried = tried.outcome === 'untried' ? [`It was not tried: ${tried.message ?? 'no reason is given'}`] : [];
  return [...untried, ...warningsOf(tried)].map((text) => ({ ...fault, level: 'warning', text }));
};

/** The copy as the roll-out would leave it. A copy that the roll-out would not write is checked as it is. */
const contentAfter = async (context: DriftContext, copy: TenantDashboard): Promise<DashboardContent> => {
  const drift = await detectDrift(context, copy, false);
  if (drift.status === 'unreadable') throw drift.fault;
  if (drift.status === 'missing') {
    const message = 'The service no longer has this copy. The next login of the tenant makes it again.';
    throw new Refusal('NOT_FOUND', message);
  }
  return 'merge' in drift ? drift.merge.content : drift.copy.content;
};

const checkCopy = async (
  context: DriftContext & { readonly policy: Policy },
  copy: TenantDashboard,
  seesData: boolean,
): Promise<{ readonly metrics: number; readonly faults: readonly CheckFault[] }> => {
  try {
    const content = await contentAfter(context, copy);
    const faults: CheckFault[] = [];
    // One call for each metric, so that none waits for the others.
    for (const metric of seesData ? content.metrics : []) {
      const tried = await tryMetrics(context, copy, { ...content, layout: [], metrics: [metric] }, true);
      faults.push(...tried.flatMap((one) => faultsOf(copy.clientId, one)));
    }
    return { metrics: content.metrics.length, faults };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const fault = { level: 'error', clientId: copy.clientId, metric: null, text: error.message } as const;
    return { metrics: 0, faults: [fault] };
  }
};

const listCopies = async (
  { ledger }: Pick<CheckDeps, 'ledger'>,
  { template, clientIds, tenants }: CheckInput,
): Promise<readonly TenantDashboard[]> => {
  if (clientIds === undefined) return ledger.listDashboards(template, { after: '', limit: tenants });
  const found: TenantDashboard[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: readonly TenantDashboard[] = await ledger.listDashboards(template, { after, limit: pageSize });
    found.push(...page.filter(({ clientId }) => clientIds.includes(clientId)));
    after = page.length < pageSize ? undefined : page.at(-1)?.tenantRef;
  }
  const missing = clientIds.filter((id) => !found.some(({ clientId }) => clientId === id));
  if (missing.length === 0) return found;
  throw new Refusal('NOT_FOUND', `These tenants have no copy of ${JSON.stringify(template)}: ${missing.join(', ')}.`);
};

export const checkTemplate = async (deps: CheckDeps, policy: Policy, input: CheckInput) => {
  const { upstream, versions } = deps;
  const target = await recordTemplate(deps, policy, input.template);
  const copies = createCopies(upstream, policy.workspace);
  const unreadable = await listUnreadable(deps, policy, target);
  const ofTemplate = unreadable.map(
    ({ name, message }): CheckFault => ({ level: 'error', clientId: null, metric: name, text: message }),
  );
  const known = await versions.list(input.template);
  const context = { target, known, findVersion: rememberVersions(versions), copies, policy };
  const checked = [];
  for (const copy of await listCopies(deps, input)) {
    checked.push({ clientId: copy.clientId, ...(await checkCopy(context, copy, input.seesData)) });
  }
  return {
    ...{ template: input.template, version: target.version },
    tenants: checked.map(({ clientId, metrics }) => ({ clientId, metrics })),
    faults: [...ofTemplate, ...(input.seesData ? [] : [notRun]), ...checked.flatMap(({ faults }) => faults)],
  };
};
