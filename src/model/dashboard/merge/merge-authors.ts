/** Merges the changes of two authors of one dashboard, three-way. Pure. */
import type { DashboardContent } from '../dashboard.js';
import type { Choices } from './choices.js';
import { mergeDashboard, type ShownConflict, showConflicts } from './merge-dashboard.js';
import { type Conflict, type Merged, mergeWhole } from './three-way.js';

/** `base`: what both authors read. `given`: what one of them wants to write. `current`: what another one wrote meanwhile. */
export type AuthorVersions<T> = { readonly base: T; readonly given: T; readonly current: T };

/** Whose value a conflict gets, by its path. */
export type AuthorChoices = Readonly<Record<string, 'given' | 'current'>>;

export type AuthorConflict = {
  readonly path: string;
  readonly kind: 'changed-by-both' | 'added-by-both' | 'removed-by-given' | 'removed-by-current';
} & AuthorVersions<unknown>;

export type AuthorMerge = {
  /** Has both authors' changes. In a conflict that nobody decided it has the given value. */
  readonly content: DashboardContent;
  /** What nobody has decided yet. */
  readonly conflicts: readonly AuthorConflict[];
};

/** Fields of a content that a copy does not take from its template, but that authors share. */
const settings = ['metadata', 'isAllowPrivateMetricsByDefault'] as const;

const kinds: Readonly<Record<Conflict['kind'], AuthorConflict['kind']>> = {
  'changed-by-both': 'changed-by-both',
  'added-by-both': 'added-by-both',
  'removed-by-template': 'removed-by-current',
  'removed-by-tenant': 'removed-by-given',
};

const conflictOf = ({ path, kind, base, template, tenant }: ShownConflict): AuthorConflict => ({
  path,
  kind: kinds[kind],
  base,
  given: tenant,
  current: template,
});

const mergeSetting = (
  { base, given, current }: AuthorVersions<unknown>,
  name: string,
  choices: AuthorChoices,
): Merged<unknown> => {
  const merged = mergeWhole({ base, template: current, tenant: given }, name);
  if (merged.conflicts.length === 0 || !Object.hasOwn(choices, name)) return merged;
  return { value: choices[name] === 'current' ? current : given, conflicts: [] };
};

/**
 * The versions with what they leave out. A setting that is missing counts as unchanged, because a replacement keeps it.
 * A content that was read has no tiles if the dashboard had none.
 */
export const completeVersions = ({
  base: read,
  given,
  current,
}: AuthorVersions<DashboardContent>): AuthorVersions<DashboardContent> => {
  const filled = (content: DashboardContent, from: DashboardContent): DashboardContent => ({
    ...content,
    metadata: content.metadata === undefined ? from.metadata : content.metadata,
    isAllowPrivateMetricsByDefault: content.isAllowPrivateMetricsByDefault ?? from.isAllowPrivateMetricsByDefault,
  });
  const base = { ...filled(read, current), tiles: read.tiles ?? [] };
  return { base, given: { ...filled(given, base), tiles: given.tiles ?? base.tiles }, current };
};

/**
 * The changes of `given` and of `current` to `base`, both. `choices` decide what both changed differently. The versions
 * must be complete.
 */
export const mergeAuthors = (versions: AuthorVersions<DashboardContent>, choices: AuthorChoices = {}): AuthorMerge => {
  const { base, given, current } = versions;
  const asCopies = { base, template: current, tenant: given };
  const taken: Choices = Object.fromEntries(
    Object.entries(choices).map(([path, whose]) => [path, whose === 'current' ? 'template' : 'tenant']),
  );
  const merged = mergeDashboard(asCopies, taken);
  const own = settings.map((name) => {
    const at = { base: base[name], given: given[name], current: current[name] };
    return { name, at, ...mergeSetting(at, name, choices) };
  });
  return {
    content: { ...merged.content, ...Object.fromEntries(own.map(({ name, value }) => [name, value])) },
    conflicts: [
      ...showConflicts(asCopies, merged.conflicts).map(conflictOf),
      ...own.flatMap(({ conflicts, at }) => conflicts.map(({ path, kind }) => ({ path, kind: kinds[kind], ...at }))),
    ],
  };
};
