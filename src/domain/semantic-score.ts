import type { SemanticLayer, SemanticTable } from './semantic-layer.js';

/**
 * What each part of a complete layer is worth; together 100. The part counts in proportion to how many of the datamart's
 * tables, or columns, have it. spec-gap: the specification gives no weights.
 */
export const scoreWeights = {
  tableDescriptions: 20,
  tableSynonyms: 10,
  columnDescriptions: 30,
  columnSynonyms: 15,
  columnTypes: 20,
  feedback: 5,
} as const;

const share = <Item>(items: readonly Item[], isFilled: (item: Item) => boolean): number =>
  items.length === 0 ? 0 : items.filter(isFilled).length / items.length;

/**
 * A whole number from 0, when nothing is filled, to 100, when everything is; what is filled never makes it less. Rounded
 * down, so that 100 means all; but anything at all is 1 at least.
 */
export const completionScore = (tables: readonly SemanticTable[], feedback: SemanticLayer['feedback']): number => {
  const columns = tables.flatMap((table) => table.columns);
  const sum =
    scoreWeights.tableDescriptions * share(tables, ({ description }) => description !== null) +
    scoreWeights.tableSynonyms * share(tables, ({ synonyms }) => synonyms.length > 0) +
    scoreWeights.columnDescriptions * share(columns, ({ description }) => description !== null) +
    scoreWeights.columnSynonyms * share(columns, ({ synonyms }) => synonyms.length > 0) +
    scoreWeights.columnTypes * share(columns, ({ columnType }) => columnType !== null) +
    (feedback === null ? 0 : scoreWeights.feedback);
  return sum > 0 ? Math.max(1, Math.floor(sum)) : 0;
};
