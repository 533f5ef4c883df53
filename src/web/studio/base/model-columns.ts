/** The columns of a model, as filters of dashboards may name them. */
import type { Api } from './api.js';

export type FilterType = 'string' | 'number' | 'date' | 'boolean';
export type ModelColumn = {
  readonly schemaName: string;
  readonly tableName: string;
  readonly columnName: string;
  /** Table and column as people read them. */
  readonly label: string;
  readonly dataType: FilterType;
};

type ListedColumn = {
  readonly columnName: string;
  readonly label: string;
  readonly datatype: string;
  readonly isHide: boolean;
};
type Listed = {
  readonly name: string;
  readonly datamartTables?: readonly {
    readonly schemaName: string;
    readonly tableName: string;
    readonly label: string;
    readonly isHide: boolean;
    readonly datamartTableColumns: readonly ListedColumn[];
  }[];
};

/** The kind of a datatype, whatever database names it. An array or an unknown type is text. */
const filterTypeOf = (datatype: string): FilterType => {
  const name = datatype.toUpperCase();
  if (name.endsWith(']') || /INTERVAL|POINT/.test(name)) return 'string';
  if (/^(NULLABLE\()?(BOOL|TINYINT\(1\))/.test(name)) return 'boolean';
  if (/DATE|TIMESTAMP/.test(name)) return 'date';
  return /INT|SERIAL|DEC|NUMERIC|REAL|FLOAT|DOUBLE|MONEY|FIXED\(/.test(name) ? 'number' : 'string';
};

/** The columns that the model does not hide. Empty if there is no such model. */
export const listColumns = async (
  api: Api,
  datamart: string,
  signal?: AbortSignal,
): Promise<readonly ModelColumn[]> => {
  const given = signal === undefined ? {} : { signal };
  const { data } = await api.call<{ data: readonly Listed[] }>('GET', 'data-app/datamarts', given);
  const tables = data.find(({ name }) => name === datamart)?.datamartTables ?? [];
  return tables
    .filter(({ isHide }) => !isHide)
    .flatMap(({ schemaName, tableName, label, datamartTableColumns }) =>
      datamartTableColumns
        .filter(({ isHide }) => !isHide)
        .map((column) => ({
          ...{ schemaName, tableName, columnName: column.columnName },
          label: `${label || tableName}: ${column.label || column.columnName}`,
          dataType: filterTypeOf(column.datatype),
        })),
    );
};
