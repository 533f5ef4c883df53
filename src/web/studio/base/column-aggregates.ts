/** How a new measure of a column is computed, as one choice. Pure functions. */
import { abilitiesOf } from '../../../model/dashboard/abilities.js';
import { columnKind } from '../../../model/datamart/datatypes.js';
import { createFormat } from '../../base/format.js';
import type { Choice } from '../../base/options.js';
import { aggregateName, offeredAggregates } from '../../editor/words.js';
import { type StoredColumn, typeOfColumn } from './model-edit.js';

const english = createFormat('en');

/** The aggregates that fit the values of the column. None: it is a measure itself. */
const fitting = (column: StoredColumn): ReturnType<typeof offeredAggregates> => {
  if (column.isAggregate) return [];
  const kind = columnKind(typeOfColumn(column));
  return offeredAggregates(abilitiesOf[kind ?? 'number'].aggregates);
};

/** What is chosen. Empty: its name and type decide, which they also do for an aggregate that is not allowed. */
export const aggregateOf = ({ allowAggregate, defaultAggregation }: StoredColumn): string =>
  allowAggregate ? (defaultAggregation?.toUpperCase() ?? '') : '';

/** What can be chosen, with what is chosen now. Empty: the column has no choice. */
export const aggregateChoices = (column: StoredColumn): readonly Choice[] => {
  const fit = fitting(column);
  if (fit.length === 0) return [];
  const now = aggregateOf(column);
  const kept = now === '' || fit.some((one) => one === now) ? [] : [[now, `${now}, which does not fit`] as const];
  return [
    ['', 'Measured as usual'],
    ...fit.map((one) => [one, `Measured as ${aggregateName(one, english.text).toLowerCase()}`] as const),
    ...kept,
  ];
};

/** The two fields of a column that say it. An empty text: its name and type decide again. */
export const withAggregate = (text: string): Pick<StoredColumn, 'allowAggregate' | 'defaultAggregation'> =>
  text === ''
    ? { allowAggregate: false, defaultAggregation: null }
    : { allowAggregate: true, defaultAggregation: text };
