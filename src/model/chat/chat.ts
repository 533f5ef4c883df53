/** A guest's question in words, and its answer. */

import type { ColumnRef } from '../datamart/datamart.js';
import type { GuestFields } from '../guest/fields.js';
import type { NewGuestDefinition } from '../guest/metric.js';
import type { GuestQuery } from '../guest/view.js';
import { isRecord } from '../is-record.js';

export type LabelledColumn = ColumnRef & { readonly label: string };

const isColumn = (value: unknown): value is ColumnRef =>
  isRecord(value) && ['schemaName', 'tableName', 'columnName'].every((name) => typeof value[name] === 'string');

/** Every column that a definition names, wherever it does. */
const columnsIn = (value: unknown): readonly ColumnRef[] => {
  if (isColumn(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(columnsIn);
  return isRecord(value) ? Object.values(value).flatMap(columnsIn) : [];
};

/** Returns the labelled columns of a definition, of those that the guest may use, each once. */
export const labelsOf = (definition: unknown, { tables }: GuestFields): readonly LabelledColumn[] => {
  const named = columnsIn(definition);
  return tables.flatMap(({ schemaName, tableName, fields }) =>
    fields.flatMap(({ columnName, label }) => {
      const isNamed = named.some(
        (one) => one.schemaName === schemaName && one.tableName === tableName && one.columnName === columnName,
      );
      return isNamed && label !== '' ? [{ schemaName, tableName, columnName, label }] : [];
    }),
  );
};

export const chatLimits = {
  /** Characters of a question, and of the text of an answer. */
  textLength: 2_000,
  /** Earlier questions that a browser sends with a new one. */
  turns: 10,
} as const;

/** A metric that an answer shows. It is not saved. */
export type ChatMetric = { readonly name: string; readonly definition: NewGuestDefinition };

/** An earlier question with its answer, as the browser kept it. */
export type ChatTurn = {
  readonly question: string;
  readonly text: string | null;
  readonly metric: ChatMetric | null;
};

export type ChatQuestion = {
  readonly dashboardId: string;
  readonly question: string;
  readonly turns?: readonly ChatTurn[] | undefined;
  /** Undefined: the usual model of the workspace. */
  readonly llmName?: string | undefined;
  readonly dashboardFilter?: GuestQuery['dashboardFilter'];
  readonly language?: string | undefined;
};

export type ChatAnswer = {
  /** Plain text of the model. Null: the model wrote none, or wrote numbers that are in nothing that it read. */
  readonly text: string | null;
  /** The last metric that this guest could query. Null: the model made none. */
  readonly metric: ChatMetric | null;
  /** What people call the columns of the metric. */
  readonly labels: readonly LabelledColumn[];
  /** The model that answered. */
  readonly llmName: string;
};
