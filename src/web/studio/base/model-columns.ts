/** The columns of a model, as filters of dashboards may name them. */
import { abilitiesOf } from '../../../model/dashboard/abilities.js';
import { columnKind } from '../../../model/datamart/datatypes.js';
import type { Api } from './api.js';
import type { StoredColumn } from './model-edit.js';

export type FilterType = 'string' | 'number' | 'date' | 'boolean';
export type ModelColumn = {
  readonly schemaName: string;
  readonly tableName: string;
  readonly columnName: string;
  /** Table and column as people read them. */
  readonly label: string;
  readonly dataType: FilterType;
};

/** The data type of a filter on the column. Where only the database knows the type, it is text. */
const filterTypeOf = (column: StoredColumn): FilterType | null => {
  const kind = columnKind(column);
  return kind === undefined ? 'string' : abilitiesOf[kind].filter;
};

/** The columns that the model does not hide. Empty if there is no such model. */
export const listColumns = async (
  api: Api,
  datamart: string,
  signal?: AbortSignal,
): Promise<readonly ModelColumn[]> => {
  const { data } = await api.call('listDatamarts', {}, signal);
  const tables = data.find(({ name }) => name === datamart)?.datamartTables ?? [];
  return tables
    .filter(({ isHide }) => !isHide)
    .flatMap(({ schemaName, tableName, label, datamartTableColumns }) =>
      datamartTableColumns
        .filter(({ isHide }) => !isHide)
        .flatMap((column) => {
          const dataType = filterTypeOf(column);
          const { columnName } = column;
          const shown = `${label || tableName}: ${column.label || columnName}`;
          return dataType === null ? [] : [{ schemaName, tableName, columnName, label: shown, dataType }];
        }),
    );
};
