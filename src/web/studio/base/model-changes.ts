/** How a model differs from its database, and what an author decides about each difference. Pure. */
import type { OperationAnswer, OperationInput } from './api.js';
import { changeOf, type StoredModel } from './model-edit.js';

type Compared = OperationAnswer<'compareDatamart'>;
export type Difference = Compared['data'][number];
export type Change = Difference['change'];
export type Broken = Difference['breaks'][number];
export type Accepted = NonNullable<Compared['accepted']>;
export type Decision = 'add' | 'leaveOut' | 'rename' | 'remove' | 'later';

/** The model as a comparison takes it. */
export const comparedModel = (model: StoredModel): OperationInput<'compareDatamart'>['model'] => {
  const { tableList = [], relationships = [], sharedTables = [] } = changeOf(model);
  const tenancy = Object.entries(model.datamartOrganization ?? {}).filter(([, value]) => value !== null);
  return {
    ...{ tableList, relationships, sharedTables },
    ...(tenancy.length === 0 ? {} : { tenancySettings: Object.fromEntries(tenancy) }),
  };
};

/** What can be decided, the proposal first. */
export const decisionsFor = ({ change, caution }: Difference): readonly Decision[] => {
  if (change.kind === 'renamed') return ['rename', 'remove', 'later'];
  if (change.kind === 'gone') return ['later', 'remove'];
  if (change.kind !== 'new') return [];
  const isTable = change.columnName === null;
  const out: readonly Decision[] = isTable ? [] : ['leaveOut'];
  return caution === null ? ['add', ...out, 'later'] : ['later', 'add', ...out];
};

export const decisionWords = ({ change }: Difference, decision: Decision): string => {
  if (decision === 'add') return 'Add it to the model';
  if (decision === 'leaveOut') return 'Leave it out, and do not ask again';
  if (decision === 'rename') return `It is called ${change.newName} now`;
  return decision === 'remove' ? 'Remove it from the model' : 'Decide later';
};

/** The change that comes of a decision. Null: none. */
const changeBy = ({ change }: Difference, decision: Decision): Change | null => {
  if (change.kind === 'retyped') return change;
  if (decision === 'later') return null;
  if (decision === 'leaveOut') return { ...change, kind: 'leftOut' };
  return decision === 'remove' ? { ...change, kind: 'gone', newName: null } : change;
};

export type Decisions = ReadonlyMap<string, Decision>;

export const decisionOf = (difference: Difference, decisions: Decisions): Decision =>
  decisions.get(difference.name) ?? decisionsFor(difference)[0] ?? 'later';

/** The changes that are decided. The types of the database come with every save. */
export const acceptedBy = (differences: readonly Difference[], decisions: Decisions): readonly Change[] =>
  differences.flatMap((one) => changeBy(one, decisionOf(one, decisions)) ?? []);

/** What the database lacks and about which nothing is decided: no model can be saved with it. */
export const undecided = (differences: readonly Difference[], decisions: Decisions): readonly Difference[] =>
  differences.filter(
    (one) => (one.change.kind === 'gone' || one.change.kind === 'renamed') && decisionOf(one, decisions) === 'later',
  );

const kinds: Readonly<Record<Change['kind'], string>> = {
  ...{ new: 'New', renamed: 'Renamed', gone: 'Gone', retyped: 'Other type', leftOut: 'Left out' },
};
export const kindWords = ({ change }: Difference): string => kinds[change.kind];

export const whatChanged = ({ change }: Difference): string => {
  const { kind, columnName, newName, before, after } = change;
  const what = columnName === null ? 'table' : 'column';
  if (kind === 'renamed') return `The database has no such ${what} any more. It is probably ${newName} now.`;
  if (kind === 'gone') return `The database has no such ${what} any more.`;
  if (kind === 'retyped') return `Its type was ${before}, and is ${after} now. The next save of the model takes it.`;
  return columnName === null ? 'A table that the model does not have.' : `A column of the type ${after}.`;
};

const whats: Readonly<Record<Broken['what'], string>> = {
  ...{ metric: 'Chart', filter: 'Filter', policy: 'Policy:', relationship: 'Relationship' },
  ...{ tenancy: 'Rows of', customColumn: 'Calculated column' },
};

export const brokenWords = ({ what, name, where, why }: Broken): string => {
  const named = what === 'metric' || what === 'filter' ? `“${name}”` : name;
  return `${whats[what]} ${named}${where === null ? '' : ` of ${where}`}: ${why}`;
};
