/**
 * Makes a client's copy of one template, or adopts an existing one. Its steps are: begin, create, verify owner and
 * template, verify import, publish, complete. If the process dies in between, the next request repeats the steps and finds their
 * results. An existing dashboard is adopted only after it is verified.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { UpstreamRefusal } from '../../platform/http/interface/client.js';
import { deleteDashboard } from '../../service/dashboards/contract/dashboards.js';
import { createDashboardEmbed } from '../../service/dashboards/contract/embeds.js';
import type { Audit } from '../audit/audit.js';
import { undecided } from '../policy/decide.js';
import type { Policy, Template } from '../policy/policy.js';
import { tenantSourceOf } from '../policy/tenant-source.js';
import { unavailable } from '../upstream/unavailable.js';
import type { CopyLocation, CopyResult, CopyTarget, PriorState, ProvisionLedger } from './ledger.js';
import { settingsFor } from './template-version.js';
import {
  alarm,
  assertOwn,
  type Copy,
  type CopyOptions,
  findVersion,
  isFoundComplete,
  readMade,
} from './verify-copy.js';

/**
 * Brings a new copy to the edition that was published last. Returns the copy's version then. Throws
 * UPSTREAM_UNAVAILABLE.
 */
export type BringToPublished = (
  copy: Copy & { readonly tenantRef: string; readonly version: string | null },
) => Promise<string | null>;

export type MakeOptions = CopyOptions & {
  readonly bringToPublished: BringToPublished;
  readonly provisioned: ProvisionLedger;
  readonly audit: Audit;
  readonly clock: Clock;
};

export type MakeRequest = {
  readonly policy: Policy;
  readonly place: CopyLocation;
  readonly template: Template;
  readonly clientId: string;
  readonly tenantRef: string;
  readonly dashboardId: string;
  readonly requestId?: string | undefined;
};

/**
 * Ensures that the copy exists and is verified. Throws UPSTREAM_UNAVAILABLE, NO_TENANT if the service accepts no such
 * client, POLICY_UNDECIDED if it refuses the tenant's datamart, or TENANT_SUSPENDED if the client was deleted.
 */
export type MakeDashboard = (making: MakeRequest) => Promise<void>;

type Step = 'begin' | 'create' | 'verify-owner' | 'verify-import' | 'finish' | 'publish' | 'complete';
type Outcome = CopyResult & { readonly how: 'created' | 'found' | 'finished' };
type Run = MakeRequest & { readonly copy: Copy; readonly target: CopyTarget; step: Step };

/** The error for a deleted tenant, for which no copy is made. */
export const tenantDeleted = (): Refusal =>
  new Refusal('TENANT_SUSPENDED', "This session's organisation was closed: nothing is shown to it any more.", {
    reason: 'tenant-deleted',
  });

const codeOf = (error: unknown): string | undefined =>
  error instanceof Refusal && error.cause instanceof UpstreamRefusal ? error.cause.code : undefined;

/**
 * Creates the copy on the policy's datamart, which its template was written for, whatever source its tokens name. A
 * client that this datamart does not have gets its copy on the datamart that its users read.
 */
const create = async (options: MakeOptions, run: Run): Promise<'created' | 'exists'> => {
  const { policy, template, clientId } = run;
  try {
    return await createOn(options, run, template.accessSettings.datamartName);
  } catch (error) {
    const source = tenantSourceOf(policy, clientId, template.template);
    const own = 'names' in source ? source.names.datamart : undefined;
    if (codeOf(error) !== 'CLIENT_ID_ERROR' || own === undefined) throw error;
    return await createOn(options, run, own).catch((second: unknown) => {
      throw codeOf(second) === 'INVALID_DATAMART_NAME' ? undecided('mint-field-refused', second) : second;
    });
  }
};

const createOn = async (
  { upstream, capabilities }: MakeOptions,
  { policy, template, copy: { clientId, dashboardId } }: Run,
  datamartName: string,
): Promise<'created' | 'exists'> => {
  const { accessSettings } = settingsFor(template, await capabilities.supports('guest-boards'));
  try {
    await upstream(createDashboardEmbed, {
      dashboardId,
      clientId,
      workspaceName: policy.workspace,
      templateDashboardId: template.template,
      isImportMetrics: true,
      metricImportMode: 'METRIC',
      name: template.name,
      isRenameDashboard: true,
      accessSettings: { ...accessSettings, datamartName },
      metadata: { guestlist: { template: template.template, clientId } },
    });
    return 'created';
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
    if (error.code === 'INVALID_DASHBOARD_ID') return 'exists';
    if (error.code === 'CLIENT_ID_ERROR') {
      throw new Refusal('NO_TENANT', "The session's organisation is not one that the analytics service accepts.", {
        reason: 'tenant-unknown-upstream',
        cause: error,
      });
    }
    throw unavailable('provisioning-refused', error);
  }
};

/** Deletes a dashboard. Succeeds if the dashboard does not exist. */
const remove = async ({ upstream }: MakeOptions, dashboardId: string): Promise<void> => {
  try {
    await upstream(deleteDashboard, { dashboardId });
  } catch (error) {
    if (!(error instanceof UpstreamRefusal) || error.code !== 'INVALID_DASHBOARD_ID') throw error;
  }
};

/**
 * Deletes a half-imported copy that was never verified, and makes it again. Only one gateway does so at a time, and
 * only once.
 */
const finish = async (options: MakeOptions, run: Run): Promise<Outcome> => {
  run.step = 'finish';
  if (!(await options.capabilities.supports('delete-dashboard'))) {
    return alarm(options.log, 'dashboard-half-imported', run.copy);
  }
  const isClaimed = await options.provisioned.claim(run.target, options.clock.now());
  if (!isClaimed) throw unavailable('provisioning-under-way', new Error('another gateway is creating this dashboard'));
  await remove(options, run.dashboardId);
  if ((await create(options, run)) === 'exists') {
    throw unavailable('provisioning-under-way', new Error('another process created it meanwhile'));
  }
  const { isComplete, version } = await readMade(options, run.copy, run.template);
  return isComplete
    ? { how: 'finished', isCreated: true, version }
    : alarm(options.log, 'import-brings-nothing', run.copy);
};

const createOrTake = async (options: MakeOptions, run: Run, before: PriorState): Promise<Outcome> => {
  run.step = 'create';
  if ((await create(options, run)) === 'created') {
    run.step = 'verify-import';
    const { isComplete, version } = await readMade(options, run.copy, run.template);
    return isComplete ? { how: 'created', isCreated: true, version } : finish(options, run);
  }
  run.step = 'verify-owner';
  await assertOwn(options, run.copy);
  run.step = 'verify-import';
  if (!(await isFoundComplete(options, run.copy, before))) return finish(options, run);
  // The row of a copy that was verified before has its version, if one is known.
  const version = before.wasVerified ? null : await findVersion(options, run.copy, before.isResumed);
  return { how: 'found', isCreated: false, version };
};

/** A copy that a guest may have used stays as it is: a roll-out changes it. */
const publish = async (options: MakeOptions, run: Run, before: PriorState, outcome: Outcome): Promise<Outcome> => {
  if (before.wasVerified || !(outcome.isCreated || before.isResumed)) return outcome;
  run.step = 'publish';
  const version = await options.bringToPublished({ ...run.target, ...run.copy, version: outcome.version });
  return version === outcome.version ? outcome : { ...outcome, version, isCreated: true };
};

type Detail = Readonly<Record<string, string | number | boolean | null>>;

/** Records an audit event. It has only the template's name, since the dashboard's id contains the clientId. */
const account = ({ audit }: MakeOptions, run: Run, code: string, detail: Detail, isGone = false): Promise<void> =>
  audit.record({
    kind: 'provision',
    code,
    // An erased tenant gets no new pseudonym.
    ...(isGone ? {} : { clientId: run.clientId }),
    requestId: run.requestId,
    detail: { template: run.template.template, ...detail },
  });

const reasonOf = (error: unknown): string =>
  error instanceof Refusal ? (error.reason ?? error.code) : 'unexpected-failure';

/**
 * Deletes the dashboard again, because the tenant was deleted meanwhile. If that fails, the ledger and the log have the
 * id of the remaining dashboard.
 */
const undo = async (options: MakeOptions, run: Run): Promise<never> => {
  const { capabilities, provisioned, clock, log } = options;
  const { dashboardId, clientId } = run;
  try {
    if (!(await capabilities.supports('delete-dashboard'))) throw new Refusal('NOT_SUPPORTED', 'no deletion there');
    await remove(options, dashboardId);
    await account(options, run, 'OK', { step: 'undo' }, true);
  } catch (error) {
    log.error(
      { event: 'dashboard.orphaned', err: error, dashboardId, tenant: clientId },
      'failed to delete a dashboard of a deleted tenant; delete it by hand',
    );
    await provisioned.recordLeftover(run.target, clock.now(), reasonOf(error));
    await account(options, run, 'UPSTREAM_UNAVAILABLE', { step: 'undo', reason: reasonOf(error) }, true);
  }
  throw tenantDeleted();
};

const complete = async (options: MakeOptions, run: Run, { how, ...made }: Outcome): Promise<void> => {
  const { provisioned, clock } = options;
  run.step = 'complete';
  await account(options, run, 'OK', { step: 'verified', how, version: made.version });
  if (await provisioned.complete(run.target, clock.now(), made)) return;
  const { state } = await provisioned.read(run.tenantRef);
  if (state === 'deleted') await undo(options, run);
  throw unavailable('provisioning-overtaken', new Error('the row of this dashboard was changed by another'));
};

/**
 * Stores the failure. An error of the ledger or the audit is only logged, so that the first failure is the one that is
 * thrown.
 */
const noteFailure = async (options: MakeOptions, run: Run, error: unknown): Promise<void> => {
  const reason = reasonOf(error);
  try {
    const failures = await options.provisioned.fail(run.target, options.clock.now(), run.step, reason);
    const code = error instanceof Refusal ? error.code : 'INTERNAL_SERVER_ERROR';
    await account(options, run, code, { step: run.step, reason, failures });
  } catch (second) {
    options.log.error(
      { event: 'provision.note_failed', err: second, reason },
      'failed to store that provisioning failed',
    );
  }
};

const begin = async (options: MakeOptions, run: Run): Promise<PriorState | 'verified'> => {
  const before = await options.provisioned.begin(run.target, options.clock.now());
  if (before === 'deleted') throw tenantDeleted();
  return before;
};

export const createMakeDashboard =
  (options: MakeOptions): MakeDashboard =>
  async (making) => {
    const { template, clientId, tenantRef, dashboardId, place } = making;
    const copy = { dashboardId, clientId, template: template.template, workspace: making.policy.workspace };
    const target = { ...copy, tenantRef, place, attempt: randomUUID() };
    const run: Run = { ...making, copy, target, step: 'begin' };
    const before = await begin(options, run);
    if (before === 'verified') return;
    try {
      const outcome = await publish(options, run, before, await createOrTake(options, run, before));
      await complete(options, run, outcome);
      // A roll-out that ended in between did not see this copy.
      const latest = await publish(options, run, before, outcome);
      if (latest.version !== outcome.version) await complete(options, run, latest);
      if (outcome.how !== 'found')
        options.log.info(
          { event: 'tenant.provisioned', dashboardId, tenant: clientId, requestId: run.requestId },
          'created a dashboard',
        );
    } catch (error) {
      if (!(error instanceof Refusal && error.reason === 'tenant-deleted')) await noteFailure(options, run, error);
      throw error;
    }
  };
