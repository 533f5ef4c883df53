/** Compares a tenant's copy with its template: the version it was made from, the tenant's edits, and the template's content now. */

import type { DashboardContent } from '../../model/dashboard/dashboard.js';
import type { CopySettings } from '../../model/dashboard/embed.js';
import { type DashboardMerge, isSameBoard, mergeDashboard } from '../../model/dashboard/merge/merge-dashboard.js';
import type { Versions } from '../../model/dashboard/merge/three-way.js';
import { Refusal } from '../../model/refusal.js';
import { type Policy, policyFor } from '../policy/policy.js';
import type { Copies, Copy } from './copies.js';
import type { RolloutOptions, TenantDashboard } from './model.js';
import type { TemplateVersion, TemplateVersions } from './template-versions.js';

/**
 * `behind`: the tenant did not edit the copy, so it takes the new template as a whole. `edited`: the copy takes the
 * template's changes and keeps the tenant's edits.
 */
export type Drift =
  | {
      readonly status: 'up-to-date' | 'behind' | 'edited' | 'conflict';
      readonly copy: Copy;
      /** What was compared. The base is the version that the copy was made from. */
      readonly versions: Versions<DashboardContent>;
      readonly merge: DashboardMerge;
    }
  /** `adoptable`: the known version whose content equals the copy's, or null. */
  | { readonly status: 'unknown-base'; readonly copy: Copy; readonly adoptable: string | null }
  | { readonly status: 'missing' }
  | { readonly status: 'unreadable'; readonly fault: Refusal };

export type FindVersion = TemplateVersions['find'];

/** Returns a `findVersion` that reads each version from the ledger only once. */
export const rememberVersions = (versions: Pick<TemplateVersions, 'find'>): FindVersion => {
  const known = new Map<string, ReturnType<FindVersion>>();
  return (template, version) => {
    const key = JSON.stringify([template, version]);
    const found = known.get(key) ?? versions.find(template, version);
    known.set(key, found);
    return found;
  };
};

/** The inputs that are the same for every copy that is compared. */
export type DriftContext = {
  readonly copies: Copies;
  readonly target: TemplateVersion;
  readonly findVersion: FindVersion;
  /** Every known version of the template. */
  readonly known: readonly TemplateVersion[];
  /** How conflicts are decided, by tenant reference. Undefined: none is. */
  readonly choices?: RolloutOptions['choices'];
  /** Tells the names that overrides give to tenants' copies. Undefined: no override is looked at. */
  readonly policy?: Policy | undefined;
};

type Base = Pick<TemplateVersion, 'content'>;

/** The name that an override of the policy gives to this tenant's copy. */
const overridingName = (policy: Policy | undefined, { clientId, template }: TenantDashboard): string | undefined => {
  const entry = policy && policyFor(policy, clientId).templates.get(template);
  return entry === undefined || entry.name === entry.commonName ? undefined : entry.name;
};

/**
 * The settings of the three versions. A copy that is older than the storage of settings has no base: where it differs
 * from the template, that is a conflict, unless the roll-out adopts copies of unknown origin. An override of the policy
 * says the name for its tenant, so it is no change of the tenant.
 */
const settingsAt = (
  { target, policy }: DriftContext,
  dashboard: TenantDashboard,
  base: Base,
  tenant: CopySettings | undefined,
  isAdopting: boolean,
): Versions<CopySettings | undefined> => {
  const before = base.content.settings ?? (isAdopting ? tenant : undefined);
  const template = target.content.settings;
  const name = overridingName(policy, dashboard);
  if (name === undefined || before === undefined || template === undefined || tenant === undefined)
    return { base: before, template, tenant };
  return { base: { ...before, name: tenant.name }, template: { ...template, name }, tenant };
};

/** Merges the target into a copy that was made from `base`. */
export const mergeCopy = (
  judge: DriftContext,
  dashboard: TenantDashboard,
  base: Base,
  copy: Pick<Copy, 'content'>,
  isAdopting: boolean,
): Pick<Extract<Drift, { readonly merge: unknown }>, 'merge' | 'versions'> => {
  const settings = settingsAt(judge, dashboard, base, copy.content.settings, isAdopting);
  const versions = {
    base: { ...base.content, settings: settings.base },
    template: { ...judge.target.content, settings: settings.template },
    tenant: copy.content,
  };
  return { versions, merge: mergeDashboard(versions, judge.choices?.[dashboard.tenantRef]) };
};

const statusOf = ({ conflicts, isChanged, isEdited }: DashboardMerge) => {
  if (conflicts.length > 0) return 'conflict';
  if (!isChanged) return 'up-to-date';
  return isEdited ? 'edited' : 'behind';
};

/** Returns the known version whose content equals the copy's. If several do, the target comes first. */
const findEqual = ({ target, known }: DriftContext, { content }: Copy): TemplateVersion | undefined =>
  [target, ...known].find((version) => isSameBoard(content, version.content, version.content));

const findCopy = async (
  { copies, target }: DriftContext,
  dashboard: TenantDashboard,
): Promise<Copy | undefined | Refusal> => {
  try {
    return await copies.find(dashboard, target.content.settings !== undefined);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
};

/**
 * Returns the current drift of the tenant's copy. If `isAdopting`, a copy without a recorded version that equals a
 * known version counts as made from that version.
 */
export const detectDrift = async (
  judge: DriftContext,
  dashboard: TenantDashboard,
  isAdopting: boolean,
): Promise<Drift> => {
  const copy = await findCopy(judge, dashboard);
  if (copy === undefined) return { status: 'missing' };
  if (copy instanceof Refusal) return { status: 'unreadable', fault: copy };
  const { version, template } = dashboard;
  const recorded = version === null ? undefined : await judge.findVersion(template, version);
  const equal = recorded === undefined ? findEqual(judge, copy) : undefined;
  const base = recorded ?? (isAdopting ? equal : undefined);
  if (base === undefined) return { status: 'unknown-base', copy, adoptable: equal?.version ?? null };
  const merged = mergeCopy(judge, dashboard, base, copy, isAdopting);
  return { status: statusOf(merged.merge), copy, ...merged };
};
