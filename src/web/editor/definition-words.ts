/** A definition in words, in the reader's language. Pure: texts from the definition stay texts. */
import type { Calculation, ConditionTree, Dimension, VisualDefinition } from '../../model/dashboard/metric.js';
import type { ColumnRef } from '../../model/datamart/datamart.js';
import type { Condition, Predicate, Scalar } from '../../model/filter/filter.js';
import type { NewGuestDefinition } from '../../model/guest/metric.js';
import type { Format } from '../base/format.js';
import { periodInWords } from '../filters/filter-values.js';
import { sameColumn } from './catalogue.js';
import { aggregateName, grainName, offeredGrains } from './words.js';

/** What people call columns. A column without a label has its own name. */
export type ColumnLabels = readonly (ColumnRef & { readonly label: string })[];

type Words = { readonly format: Format; readonly labels: ColumnLabels };

const titleOf = ({ labels }: Words, column: ColumnRef): string =>
  labels.find((one) => sameColumn(one, column))?.label ?? column.columnName;

const list = ({ format }: Words, texts: readonly string[]): string =>
  new Intl.ListFormat(format.language, { type: 'conjunction' }).format(texts);

/** A group, with its period. */
export const groupWords = (words: Words, { column, grain }: Dimension): string => {
  const { text } = words.format;
  const name = titleOf(words, column);
  const known = offeredGrains.find((one) => one === grain);
  return known === undefined ? name : text('{name} ({grain})', { name, grain: grainName(known, text) });
};

/** A measure by what it computes. */
export const measureWords = (words: Words, measure: NonNullable<NewGuestDefinition['measures']>[number]): string => {
  const { text } = words.format;
  if (measure.aggregate === 'AGGREGATE') return measure.column === undefined ? '' : titleOf(words, measure.column);
  const aggregate = aggregateName(measure.aggregate, text);
  if (measure.column === undefined) return aggregate;
  return text('{aggregate} of {name}', { aggregate, name: titleOf(words, measure.column) });
};

const calculationWords = ({ format: { text } }: Words, { kind, of }: Calculation): string => {
  const name = of;
  if (kind === 'shareOfTotal') return text('Share of {name}', { name });
  return kind === 'runningTotal'
    ? text('Running total of {name}', { name })
    : text('{name}, a period earlier', { name });
};

const valueWords = ({ format }: Words, value: Scalar | null): string => {
  if (typeof value === 'boolean') return format.yesOrNo(value);
  return value === null ? '…' : String(value);
};

const predicateWords = (words: Words, predicate: Predicate): string => {
  const { text } = words.format;
  switch (predicate.kind) {
    case 'oneOf':
      return list(
        words,
        predicate.values.map((value) => valueWords(words, value)),
      );
    case 'noneOf': {
      const value = list(
        words,
        predicate.values.map((each) => valueWords(words, each)),
      );
      return text('not {value}', { value });
    }
    case 'compare':
      return `${predicate.operator} ${valueWords(words, predicate.value)}`;
    case 'range':
      return `${valueWords(words, predicate.from)} – ${valueWords(words, predicate.to)}`;
    case 'relative':
      return periodInWords(predicate.period, text) ?? predicate.period;
    case 'like':
      return predicate.pattern;
    case 'recurring':
      return predicate.value === null
        ? text('(none)')
        : words.format.dimension(predicate.value, 'number', predicate.grain);
    case 'isNull':
      return text('(none)');
    case 'isNotNull':
      return text('with a value');
    // Guests have none.
    case 'inQuery':
      return '…';
  }
};

const conditionWords = (words: Words, { column, predicate }: Condition): string =>
  words.format.text('{name}: {value}', { name: titleOf(words, column), value: predicateWords(words, predicate) });

const treeWords = (words: Words, tree: ConditionTree): readonly string[] => {
  if ('predicate' in tree) return [conditionWords(words, tree)];
  if ('all' in tree) return tree.all.flatMap((each) => treeWords(words, each));
  const any = tree.any.map((each) => treeWords(words, each).join(' · '));
  return [words.format.text('One of these: {list}', { list: any.join(' | ') })];
};

const orderWords = (
  { format: { text } }: Words,
  { sort, limit, others }: Pick<NewGuestDefinition, 'sort' | 'limit' | 'others'>,
) => [
  ...(sort ?? []).map(({ name, direction }) =>
    direction === 'ASC'
      ? text('Sorted by {name}, ascending', { name })
      : text('Sorted by {name}, descending', { name }),
  ),
  ...(limit == null ? [] : [text('{name}: {value}', { name: text('Rows, at most'), value: limit })]),
  ...(others === true ? [text('All others are combined')] : []),
];

/** Returns the parts of a definition, one line each: its measures, its groups, its conditions, its order. */
export const definitionWords = (
  definition: NewGuestDefinition | VisualDefinition,
  labels: ColumnLabels,
  format: Format,
): readonly string[] => {
  const words = { format, labels };
  const { dimensions = [], measures = [], calculations = [], where } = definition as NewGuestDefinition;
  const groups = dimensions.map((dimension) => groupWords(words, dimension));
  const values = [
    ...measures.filter(({ isHidden }) => isHidden !== true).map((measure) => measureWords(words, measure)),
    ...calculations.map((calculation) => calculationWords(words, calculation)),
  ];
  return [
    ...(values.length === 0 ? [] : [list(words, values)]),
    ...(groups.length === 0 ? [] : [format.text('Split by {name}', { name: list(words, groups) })]),
    ...(where === undefined ? [] : treeWords(words, where)),
    ...orderWords(words, definition as NewGuestDefinition),
  ];
};
