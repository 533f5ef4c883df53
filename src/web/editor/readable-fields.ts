/** The fields that the lists of the editor offer. Pure. */
import type { ColumnRef } from '../../model/datamart/datamart.js';
import { type Catalogue, titleOf } from './catalogue.js';
import type { Draft } from './draft.js';
import { refusalOf } from './edit.js';

type Offered = { readonly column: ColumnRef; readonly label: string; readonly isDate: boolean };

/** The fields that the draft may read, with their tables where two have one name. */
export const readableFields = (draft: Draft, catalogue: Catalogue): readonly Offered[] =>
  catalogue.tables.flatMap((table) =>
    table.fields.flatMap((field) => {
      const { schemaName, tableName } = table;
      const column = { schemaName, tableName, columnName: field.columnName };
      const isReadable = refusalOf(draft, catalogue, { kind: 'addGroup', shelf: 'drillPath', column }) === null;
      const label = catalogue.tables.length > 1 ? `${titleOf(table)} · ${titleOf(field)}` : titleOf(field);
      return isReadable ? [{ column, label, isDate: field.type === 'date' }] : [];
    }),
  );
