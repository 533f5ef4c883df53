/**
 * The published edition of a template: the version of the newest finished roll-out to all tenants. New copies get it, so
 * that a tenant who signs up while an author works does not see unfinished work. A template that was never rolled out to
 * all tenants has none: its copies get its current content.
 */
import { Refusal } from '../../model/refusal.js';
import type { Call } from '../../platform/http/interface/client.js';
import type { BringToPublished } from '../provision/make-dashboard.js';
import { templateVersionOf } from '../provision/template-version.js';
import { unavailable } from '../upstream/unavailable.js';
import { createCopies } from './copies.js';
import { type Drift, detectDrift } from './drift.js';
import type { RolloutLedger } from './model.js';
import type { TemplateVersion, TemplateVersions } from './template-versions.js';

export type PublishedDeps = {
  readonly upstream: Call;
  readonly ledger: Pick<RolloutLedger, 'findPublished'>;
  readonly versions: Pick<TemplateVersions, 'find' | 'keep'>;
};

const refused = (message: string, cause?: unknown): Refusal =>
  unavailable('published-edition-refused', new Error(message, { cause }));

const faultOf = (drift: Drift): unknown => (drift.status === 'unreadable' ? drift.fault : undefined);

/**
 * Creates the function that brings a new copy to the published edition. It writes nothing if the copy has it already.
 * Throws UPSTREAM_UNAVAILABLE if the copy cannot get it: its tenant sees no content that was not published.
 */
export const createBringToPublished = ({ upstream, ledger, versions }: PublishedDeps): BringToPublished => {
  const loadPublished = async (template: string, version: string): Promise<TemplateVersion> => {
    const found = await versions.find(template, version);
    if (found === undefined) throw refused(`version ${version} is not stored`);
    return found;
  };
  /** A new copy has the settings that the policy says now: a roll-out publishes what the template shows. */
  const withOwnSettings = async (
    published: TemplateVersion,
    { template, version }: { readonly template: string; readonly version: string | null },
  ): Promise<TemplateVersion> => {
    const own = version === null ? undefined : (await versions.find(template, version))?.content.settings;
    const { settings: _, ...board } = published.content;
    const content = own === undefined ? board : { ...board, settings: own };
    const target = { ...published, content, version: templateVersionOf(content) };
    await versions.keep(target);
    return target;
  };
  return async ({ workspace, ...copy }) => {
    const published = await ledger.findPublished(copy.template);
    if (published === undefined || published === copy.version) return copy.version;
    const target = await withOwnSettings(await loadPublished(copy.template, published), copy);
    if (target.version === copy.version) return copy.version;
    const copies = createCopies(upstream, workspace);
    const drift = await detectDrift({ copies, target, findVersion: versions.find, known: [] }, copy, false);
    if (drift.status === 'up-to-date') return target.version;
    // Merged, since a guest may have edited a copy that another login completed.
    if (drift.status !== 'behind' && drift.status !== 'edited')
      throw refused(`the copy is ${drift.status}`, faultOf(drift));
    const { outcome } = await copies.replace(copy, drift.merge.content, drift.copy.digest).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 'INVALID_DASHBOARD_DATA') throw refused(error.message, error);
      throw error;
    });
    if (outcome !== 'written') throw refused(`the copy was ${outcome} meanwhile`);
    return target.version;
  };
};
