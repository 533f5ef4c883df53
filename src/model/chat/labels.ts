/** What people call the columns of a definition. Pure. */
import type { ColumnRef } from '../datamart/datamart.js';
import type { GuestFields } from '../guest/fields.js';
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
