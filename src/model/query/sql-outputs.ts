/** What the columns of a SELECT are proposed as in a metric: what its chart splits by, or a value that it shows. */
import { isIdentifying, wordsOf } from '../datamart/column-names.js';
import { type Datamart, isKeyColumn } from '../datamart/datamart.js';
import type { AnswerColumn } from './engine.js';

export type ProposedOutput = Pick<AnswerColumn, 'name' | 'dataType'> & { readonly use: 'dimension' | 'measure' };

const calendar: ReadonlySet<string> = new Set(['year', 'quarter', 'month', 'week', 'weekday', 'day', 'hour', 'minute']);

/** Numbers that name something: ids, keys of the model, and parts of a date. */
const isName = (name: string, { tables, ...datamart }: Datamart): boolean => {
  const words = wordsOf(name);
  const isKey = tables.some((table) =>
    table.columns.some(
      ({ columnName }) => columnName.toLowerCase() === name.toLowerCase() && isKeyColumn(datamart, table, columnName),
    ),
  );
  return isKey || isIdentifying(words) || calendar.has(words.at(-1) ?? '');
};

/** Numbers are values, unless they name something. Everything else is split by. */
export const proposeOutputs = (columns: readonly AnswerColumn[], datamart: Datamart): readonly ProposedOutput[] =>
  columns.map(({ name, dataType }) => ({
    name,
    dataType,
    use: dataType === 'number' && !isName(name, datamart) ? 'measure' : 'dimension',
  }));
