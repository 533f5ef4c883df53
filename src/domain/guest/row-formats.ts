/** How the underlying rows of a metric are written: as the model says of each column. Pure. */
import { type ColumnRef, type Datamart, findColumn } from '../datamart/datamart.js';
import type { AnswerColumn } from '../query/engine.js';

/** Returns the columns of underlying rows with their formats. `underlying` names them in the same order. */
export const withRowFormats = (
  columns: readonly AnswerColumn[],
  underlying: readonly ColumnRef[],
  datamart: Datamart,
): readonly AnswerColumn[] =>
  columns.map((column, at) => {
    const ref = underlying[at];
    const { numbers, dates } = (ref && findColumn(datamart, ref)) ?? {};
    return { ...column, ...(numbers == null ? {} : { numbers }), ...(dates == null ? {} : { dates }) };
  });
