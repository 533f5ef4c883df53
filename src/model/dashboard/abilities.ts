/** What can be done with each kind of values: the part of the table of types that is the same on every database. */
import type { DatatypeKind } from '../datamart/datatypes.js';
import type { FilterDataType } from '../filter/filter.js';
import { type Aggregate, aggregates } from './metric.js';

/** What a kind of values can do, on every database. */
export type Abilities = {
  /** Aggregates that are offered. More may be possible: then the database decides. */
  readonly aggregates: readonly Aggregate[];
  /** Aggregates that no database computes. */
  readonly never: readonly Aggregate[];
  readonly hasGrains: boolean;
  readonly hasBuckets: boolean;
  /** Whether the values can be matched with a pattern. */
  readonly hasPatterns: boolean;
  /** The data type of a filter on it. Null: it takes no filter. */
  readonly filter: FilterDataType | null;
  /** Further data types that a filter on it may have. Its values then come in that form. */
  readonly alsoFilters: readonly FilterDataType[];
};

const counts = ['COUNT', 'COUNT_DISTINCT'] as const;
const withoutArithmetic = ['SUM', 'AVG', 'MEDIAN', 'PERCENTILE'] as const;
const textual: Abilities = {
  aggregates: counts,
  never: withoutArithmetic,
  hasGrains: false,
  hasBuckets: false,
  hasPatterns: false,
  filter: 'string',
  alsoFilters: [],
};
const numeric: Abilities = {
  aggregates,
  never: [],
  hasGrains: false,
  hasBuckets: true,
  hasPatterns: false,
  filter: 'number',
  alsoFilters: ['string'],
};

export const abilitiesOf: Readonly<Record<DatatypeKind, Abilities>> = {
  integer: numeric,
  number: numeric,
  // Numbers and dates may be stored as text.
  text: { ...textual, aggregates: ['MIN', 'MAX', ...counts], hasPatterns: true, alsoFilters: ['number', 'date'] },
  enum: { ...textual, alsoFilters: ['number', 'date'] },
  uuid: textual,
  boolean: { ...textual, filter: 'boolean' },
  date: {
    ...textual,
    aggregates: ['MIN', 'MAX', ...counts],
    never: ['SUM', 'AVG'],
    hasGrains: true,
    filter: 'date',
    alsoFilters: ['string'],
  },
  json: { ...textual, hasPatterns: true },
  other: { ...textual, hasPatterns: true },
  opaque: { ...textual, aggregates: ['COUNT'], never: [], filter: null },
};
