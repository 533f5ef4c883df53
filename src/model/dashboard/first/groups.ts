/** The columns by which the rows of a table may be grouped, the best first. Pure. */
import { labelOf, singularName, wordsOf } from '../../datamart/column-names.js';
import { type Datamart, sameTable } from '../../datamart/datamart.js';
import { columnKind, isOfKind } from '../../datamart/datatypes.js';
import { labelColumnOf } from '../../datamart/source-proposals.js';
import { findWay } from '../../datamart/ways.js';
import { type Facts, factsOf, type TableFacts } from './facts.js';
import { categoryPlace, namesRows } from './roles.js';

export type Group = {
  readonly facts: TableFacts;
  readonly columnName: string;
  readonly values: number;
  readonly name: string;
  /** Whether the values are kinds of rows, rather than names of them: a restriction may name one. */
  readonly isCategory: boolean;
  /** Whether the values have an order of their own. */
  readonly isOrdered: boolean;
};

/** Tables that a row of this table has one row of, by many-to-one relationships and one way only; itself first. */
export const reachable = (datamart: Datamart, facts: Facts, from: TableFacts): readonly TableFacts[] => {
  const reached = [from];
  for (const near of reached) {
    for (const { parent, child, cardinality } of datamart.relationships) {
      const isToOne = cardinality === 'ManyToOne' || cardinality === 'OneToOne';
      const next = sameTable(parent, near.table) && isToOne ? factsOf(facts, child) : undefined;
      if (next === undefined || reached.includes(next)) continue;
      if (findWay(datamart, from.table, next.table).kind === 'one') reached.push(next);
    }
  }
  return reached;
};

const kindOf = ({ table }: TableFacts, name: string) => {
  const column = table.columns.find(({ columnName }) => columnName === name);
  return column && columnKind(column);
};

/** Names of rows, and yes or no of what a row refers to. */
const saysNothing = (one: TableFacts, columnName: string, isOwn: boolean): boolean =>
  namesRows(columnName) || (!isOwn && kindOf(one, columnName) === 'boolean');

/** Names from a list that all tenants share come before the stages of rows; names of a tenant's own rows come after. */
const labelPlace = ({ isOwned }: TableFacts): number => (isOwned ? 1.5 : 0.5);

/** A column of another table has that table in its name where the column alone says too little. */
const groupName = (one: TableFacts, columnName: string, isLabel: boolean, isOwn: boolean): string => {
  const table = labelOf(singularName(one.table.tableName));
  const words = wordsOf(columnName);
  if (isLabel) {
    const thing = words.filter((word) => word !== 'name').join(' ');
    return thing === '' || ['title', 'label', 'full', 'display'].includes(thing) ? table : labelOf(thing);
  }
  return isOwn || words.length > 1 || !['status', 'type', 'kind', 'state', 'name'].includes(words.join(' '))
    ? labelOf(columnName)
    : `${table} ${words.join(' ')}`;
};

/** The columns of a table by which rows that refer to it may be told apart: its texts and enums. */
export const textsOf = (one: TableFacts): readonly Pick<Group, 'facts' | 'columnName' | 'name'>[] => {
  const label = labelColumnOf(one.source);
  return one.table.columns
    .filter((column) => isOfKind(column, 'text', 'enum'))
    .map(({ columnName }) => ({
      facts: one,
      columnName,
      name: groupName(one, columnName, columnName === label, false),
    }));
};

/** Kinds of rows first, since they make the most readable charts, then their stages, names of what they refer to, and other texts. */
export const groupsOf = (datamart: Datamart, facts: Facts, from: TableFacts): readonly Group[] =>
  reachable(datamart, facts, from)
    .filter(({ isTenants }) => !isTenants)
    .flatMap((one, distance) => {
      const label = one === from ? null : labelColumnOf(one.source);
      return one.roles.categories.map((columnName) => {
        const kind = kindOf(one, columnName);
        const isLabel = columnName === label;
        const place = categoryPlace(columnName, kind);
        const values = one.distinct.get(columnName) ?? 0;
        return {
          facts: one,
          columnName,
          values,
          name: groupName(one, columnName, isLabel, one === from),
          isLabel,
          isCategory: isLabel ? !one.isOwned && !wordsOf(columnName).includes('title') : place < 2,
          isOrdered: kind === 'enum',
          rank: (isLabel ? labelPlace(one) : place) * 4 + Math.min(distance, 3) + (isLabel && values > 12 ? 2 : 0),
        };
      });
    })
    .filter(({ facts: one, columnName, isLabel }) => isLabel || !saysNothing(one, columnName, one === from))
    .filter(({ values, isLabel, isCategory }) => values >= 2 && (isLabel || values <= (isCategory ? 100 : 40)))
    .toSorted((a, b) => a.rank - b.rank || Number(a.values > 12) - Number(b.values > 12))
    .map(({ isLabel: _, rank: __, ...group }) => group);
