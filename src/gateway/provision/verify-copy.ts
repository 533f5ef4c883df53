/** Verifies a copy at the upstream: its owner, and whether it has the template's metrics. */
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import type { Log } from '../../platform/logs/log.js';
import { exportEmbed } from '../../service/dashboards/contract/dashboards.js';
import { listDashboardMetrics } from '../../service/dashboards/contract/workspace-dashboards.js';
import { listEmbedMetrics } from '../../service/embeds/contract/embeds.js';
import type { Template } from '../policy/policy.js';
import type { Capabilities } from '../upstream/capabilities.js';
import { unavailable } from '../upstream/unavailable.js';
import type { EmbedIndex } from './embed-index.js';
import { settingsFor, type TemplateContent, templateContentOf, templateVersionOf } from './template-version.js';

/** A version of a template with its content. It is stored before a copy's row refers to it. */
export type TemplateVersion = {
  readonly template: string;
  readonly version: string;
  readonly content: TemplateContent;
};

export type CopyOptions = {
  readonly upstream: Call;
  readonly capabilities: Capabilities;
  readonly index: EmbedIndex;
  readonly keepVersion: (version: TemplateVersion) => Promise<void>;
  /** Whether a version of the template with this content is known. `version` is the one without settings. */
  readonly isKnownVersion: (template: string, version: string) => Promise<boolean>;
  readonly log: Log;
};

export type Copy = {
  readonly dashboardId: string;
  readonly clientId: string;
  readonly template: string;
  readonly workspace: string;
};

/** The faults that an operator must fix, by slug, each with its solution. */
export const mends: Readonly<Record<string, string>> = {
  'dashboard-of-a-stranger':
    'A dashboard that this gateway did not make has the id of the copy. Rename or delete it at the analytics service, then provision again.',
  'dashboard-half-imported':
    'The copy lacks its metrics, and the analytics service cannot delete dashboards. Delete the copy there with its embeds, then provision again.',
  'import-brings-nothing':
    'The copy was created again and still lacks its metrics. Check the template at the analytics service, then provision again.',
  'published-edition-refused':
    'A new copy could not get the edition that was rolled out last. Its log line says why; a roll-out of the current template to all tenants mends a template whose published edition the model no longer allows.',
  'tenant-not-in-table':
    'The policy serves known tenants only (knownTenants), and the table of tenants has no row of this one. Add the row, then provision again.',
  'dashboard-not-readable':
    'The analytics service refuses to list the metrics of the copy. Its log and the one of the gateway have the reason.',
};

/** Logs a fault that an operator must fix, and throws UPSTREAM_UNAVAILABLE. The caller learns no details. */
export const alarm = (log: Log, reason: Reason, { dashboardId, clientId }: Copy): never => {
  log.error(
    { event: 'dashboard.distrusted', reason, dashboardId, tenant: clientId, mend: mends[reason] },
    'the copy of a template is not as the gateway created it; an operator must check it',
  );
  throw unavailable(reason, new Error(`${reason}: ${dashboardId}`));
};

/** Whether the upstream responded with a refusal: it can be reached, but does not provide this. */
const isRefused = (error: unknown): boolean =>
  error instanceof UpstreamRefusal || (error instanceof Refusal && error.cause instanceof UpstreamRefusal);

export const assertOwn = async ({ index, log }: CopyOptions, copy: Copy): Promise<void> => {
  const embed = await index.find(copy.dashboardId);
  const mark = embed?.metadata?.guestlist;
  const isOwn =
    typeof mark === 'object' &&
    mark !== null &&
    'template' in mark &&
    'clientId' in mark &&
    mark.template === copy.template &&
    mark.clientId === copy.clientId;
  if (!isOwn) alarm(log, 'dashboard-of-a-stranger', copy);
};

const listMetrics = async ({ upstream, log }: CopyOptions, copy: Copy) => {
  try {
    return (await upstream(listEmbedMetrics, { embedId: copy.dashboardId, clientId: copy.clientId })).data;
  } catch (error) {
    if (error instanceof UpstreamRefusal) return alarm(log, 'dashboard-not-readable', copy);
    throw error;
  }
};

/** Returns undefined if the upstream does not provide the number. */
const countTemplateMetrics = async (
  { upstream }: CopyOptions,
  { template, workspace }: Copy,
): Promise<number | undefined> => {
  try {
    const { data } = await upstream(listDashboardMetrics, { workspaceName: workspace, dashboardId: template });
    return data.length;
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
};

/** Whether the copy has metrics, or its template has none. */
const isSomethingThere = async (options: CopyOptions, copy: Copy, count: number): Promise<boolean> =>
  count > 0 || (await countTemplateMetrics(options, copy)) === 0;

/**
 * Whether an existing copy is complete. It was complete once if it was verified before or has metrics that a guest
 * made.
 */
export const isFoundComplete = async (
  options: CopyOptions,
  copy: Copy,
  before: { readonly wasVerified: boolean; readonly isResumed: boolean },
): Promise<boolean> => {
  const metrics = await listMetrics(options, copy);
  const imported = metrics.filter(({ isGuestMade }) => isGuestMade !== true).length;
  if (before.wasVerified || imported < metrics.length) return true;
  if (!before.isResumed) return isSomethingThere(options, copy, imported);
  // The import was interrupted: if the upstream provides the number of metrics, all of them must be present.
  const expected = await countTemplateMetrics(options, copy);
  return expected === undefined ? imported > 0 : imported >= expected;
};

type Origin = { readonly content: TemplateContent; readonly version: string; readonly isCopiedWhole: boolean };

/** Returns the template's content, computed from the copy. Returns undefined if the upstream provides no export. */
const readOrigin = async (
  { upstream, capabilities, log }: CopyOptions,
  { dashboardId }: Copy,
): Promise<Origin | undefined> => {
  if (!(await capabilities.supports('export-embed'))) return undefined;
  try {
    const { data } = await upstream(exportEmbed, { embedId: dashboardId });
    const content = templateContentOf(data);
    const isCopiedWhole = data.metrics.every(({ lineage }) => lineage.length > 0);
    return { content, version: templateVersionOf(content), isCopiedWhole };
  } catch (error) {
    if (!isRefused(error)) throw error;
    log.warn(
      { event: 'template.check_failed', err: error, dashboardId },
      'the service exported no template; its version is not known',
    );
    return undefined;
  }
};

const keepOrigin = (
  { keepVersion }: CopyOptions,
  { template }: Copy,
  { version, content }: Pick<Origin, 'content' | 'version'>,
): Promise<void> => keepVersion({ template, version, content });

/** The settings of a copy that was just made are those of the policy. */
const withSettings = async (
  { capabilities }: CopyOptions,
  template: Template,
  origin: Pick<Origin, 'content' | 'version'>,
): Promise<Pick<Origin, 'content' | 'version'>> => {
  if (!(await capabilities.supports('copy-settings'))) return origin;
  const settings = settingsFor(template, await capabilities.supports('guest-boards'));
  const content = { ...origin.content, settings };
  return { content, version: templateVersionOf(content) };
};

/**
 * Reads a copy that was just made. An export shows both its metrics and the template's version. The version is null if
 * the upstream provides no export.
 */
export const readMade = async (
  options: CopyOptions,
  copy: Copy,
  template: Template,
): Promise<{ readonly isComplete: boolean; readonly version: string | null }> => {
  const origin = await readOrigin(options, copy);
  const count = origin?.content.metrics.length ?? (await listMetrics(options, copy)).length;
  const isComplete = await isSomethingThere(options, copy, count);
  if (origin === undefined) return { isComplete, version: null };
  const made = await withSettings(options, template, origin);
  await keepOrigin(options, copy, made);
  return { isComplete, version: made.version };
};

/**
 * Returns the template version of an existing copy, or null if it is unknown. If this gateway's attempt to make the
 * copy was interrupted, no guest has seen the copy, so its content is still the template's at that time, even if the
 * template has changed since. Any other copy may have been edited: it has a version only if its content equals a known
 * version.
 */
export const findVersion = async (options: CopyOptions, copy: Copy, isResumed: boolean): Promise<string | null> => {
  const origin = await readOrigin(options, copy);
  if (origin === undefined) return null;
  const isKnown = await options.isKnownVersion(copy.template, origin.version);
  if (!isKnown && (!isResumed || !origin.isCopiedWhole)) return null;
  // Without settings: what the policy said when the copy was made is not known.
  await keepOrigin(options, copy, origin);
  return origin.version;
};
