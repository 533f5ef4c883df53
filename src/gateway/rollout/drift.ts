/** Compares a tenant's copy with its template: the version it was made from, the tenant's edits, and the template's content now. */
import { Refusal } from '../../domain/refusal.js';
import type { Copies, Copy } from './copies.js';
import { type DashboardMerge, isSameBoard, mergeDashboard } from './merge-dashboard.js';
import type { TenantDashboard } from './model.js';
import type { TemplateVersion, TemplateVersions } from './template-versions.js';

/** `behind`: as its template was, and takes the new one whole. `edited`: takes it, and keeps the tenant's edits. */
export type Drift =
  | {
      readonly status: 'up-to-date' | 'behind' | 'edited' | 'conflict';
      readonly copy: Copy;
      readonly merge: DashboardMerge;
    }
  /** `adoptable`: the known version that the copy equals. */
  | { readonly status: 'unknown-base'; readonly copy: Copy; readonly adoptable: string | null }
  | { readonly status: 'missing' }
  | { readonly status: 'unreadable'; readonly fault: Refusal };

export type FindVersion = TemplateVersions['find'];

/** Each version is read once. */
export const rememberVersions = (versions: Pick<TemplateVersions, 'find'>): FindVersion => {
  const known = new Map<string, ReturnType<FindVersion>>();
  return (template, version) => {
    const key = JSON.stringify([template, version]);
    const found = known.get(key) ?? versions.find(template, version);
    known.set(key, found);
    return found;
  };
};

/** What does not change while many copies are judged. */
export type DriftContext = {
  readonly copies: Copies;
  readonly target: TemplateVersion;
  readonly findVersion: FindVersion;
  /** Every known version of the template. */
  readonly known: readonly TemplateVersion[];
};

export const statusOf = ({ conflicts, isChanged, isEdited }: DashboardMerge) => {
  if (conflicts.length > 0) return 'conflict';
  if (!isChanged) return 'up-to-date';
  return isEdited ? 'edited' : 'behind';
};

/** The version that a copy equals, the target before any other. */
const findEqual = ({ target, known }: DriftContext, { content }: Copy): TemplateVersion | undefined =>
  [target, ...known].find((version) => isSameBoard(content, version.content, version.content));

const findCopy = async ({ copies }: DriftContext, dashboard: TenantDashboard): Promise<Copy | undefined | Refusal> => {
  try {
    return await copies.find(dashboard);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
};

/** Where the tenant's copy stands just now. `isAdopting`: a copy of unknown origin that equals a known version is of that version. */
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
  const merge = mergeDashboard({ base: base.content, template: judge.target.content, tenant: copy.content });
  return { status: statusOf(merge), copy, merge };
};
