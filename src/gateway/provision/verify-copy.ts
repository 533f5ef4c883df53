/** What the upstream says of a copy: whose it is, and whether the template's metrics arrived in it. */
import { type Call, UpstreamRefusal } from '../../contract/client.js';
import { exportEmbed } from '../../contract/dashboards.js';
import { listEmbedMetrics } from '../../contract/embeds.js';
import { listDashboardMetrics } from '../../contract/workspace-dashboards.js';
import { Refusal } from '../../domain/refusal.js';
import type { Log } from '../../platform/log.js';
import type { Capabilities } from '../upstream/capabilities.js';
import { unavailable } from '../upstream/upstream.js';
import type { EmbedIndex } from './embed-index.js';
import { type TemplateContent, templateContentOf, templateVersionOf } from './template-version.js';

/** What provisioning uses of the upstream beyond the interface, where it has it. */

/** Of a template, with what it held: kept before a copy's row names it. */
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
  /** Whether the template was ever seen with this version. */
  readonly isKnownVersion: (template: string, version: string) => Promise<boolean>;
  readonly log: Log;
};

export type Copy = {
  readonly dashboardId: string;
  readonly clientId: string;
  readonly template: string;
  readonly workspace: string;
};

/** Slugs of what an operator has to mend, and how. */
export const mends: Readonly<Record<string, string>> = {
  'dashboard-of-a-stranger':
    'A dashboard that this gateway did not make has the id of the copy. Rename or delete it at the analytics service, then provision again.',
  'dashboard-half-imported':
    'The copy lacks its metrics, and the analytics service cannot delete dashboards. Delete the copy there with its embeds, then provision again.',
  'import-brings-nothing':
    'The copy was made anew and lacks its metrics still. Look at the template at the analytics service, then provision again.',
  'dashboard-not-readable':
    'The analytics service refuses to list the metrics of the copy. Its log and the one of the gateway have the reason.',
};

/** An operator has to look: the log says at what, the caller only that it does not work now. */
export const alarm = (log: Log, reason: string, { dashboardId, clientId }: Copy): never => {
  log.error(
    { event: 'dashboard.distrusted', reason, dashboardId, tenant: clientId, mend: mends[reason] },
    'the copy of a template cannot be trusted; an operator must look at it',
  );
  throw unavailable(reason, new Error(`${reason}: ${dashboardId}`));
};

/** Whether the upstream answered, and not well: it is there, and this is not to be had from it. */
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

/** Undefined where the upstream does not say. */
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

/** Whether something arrived, or there was nothing to come. */
const isSomethingThere = async (options: CopyOptions, copy: Copy, count: number): Promise<boolean> =>
  count > 0 || (await countTemplateMetrics(options, copy)) === 0;

/** One that exists already. A guest's own metrics on it, or an earlier verification, say that it was complete once. */
export const isFoundComplete = async (
  options: CopyOptions,
  copy: Copy,
  before: { readonly wasVerified: boolean; readonly isResumed: boolean },
): Promise<boolean> => {
  const metrics = await listMetrics(options, copy);
  const imported = metrics.filter(({ isGuestMade }) => isGuestMade !== true).length;
  if (before.wasVerified || imported < metrics.length) return true;
  if (!before.isResumed) return isSomethingThere(options, copy, imported);
  // Begun and not brought to its end: part of it is not enough, if the upstream says what all of it is.
  const expected = await countTemplateMetrics(options, copy);
  return expected === undefined ? imported > 0 : imported >= expected;
};

type Origin = { readonly content: TemplateContent; readonly version: string; readonly isCopiedWhole: boolean };

/** The template's content as the copy tells it; undefined where the upstream gives no export. */
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

const keepOrigin = ({ keepVersion }: CopyOptions, { template }: Copy, { version, content }: Origin): Promise<void> =>
  keepVersion({ template, version, content });

/**
 * One that was just made: an export tells both what arrived, and which version of the template that is. The version is null where
 * the upstream cannot tell it.
 */
export const readMade = async (
  options: CopyOptions,
  copy: Copy,
): Promise<{ readonly isComplete: boolean; readonly version: string | null }> => {
  const origin = await readOrigin(options, copy);
  const count = origin?.content.metrics.length ?? (await listMetrics(options, copy)).length;
  const isComplete = await isSomethingThere(options, copy, count);
  if (origin === undefined) return { isComplete, version: null };
  await keepOrigin(options, copy, origin);
  return { isComplete, version: origin.version };
};

/**
 * One that was there already. Where this gateway's making of it was cut off, nobody was shown it since: it is still what the template
 * was then, also where that has changed meanwhile. Any other may have been edited: it is of a version only where it is exactly a known one.
 */
export const findVersion = async (options: CopyOptions, copy: Copy, isResumed: boolean): Promise<string | null> => {
  const origin = await readOrigin(options, copy);
  if (origin === undefined) return null;
  if (await options.isKnownVersion(copy.template, origin.version)) return origin.version;
  if (!isResumed || !origin.isCopiedWhole) return null;
  await keepOrigin(options, copy, origin);
  return origin.version;
};
