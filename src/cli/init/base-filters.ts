/** Rows that no metric should count, such as deleted ones: the operator says which conditions every read of a table has. */
import { baseFilterWords } from '../../model/datamart/base-filter-words.js';
import { qualifiedName, sameTable, type TableRef } from '../../model/datamart/datamart.js';
import type { ProposedBaseFilter } from '../../model/datamart/source-proposals.js';
import type { SourceTable } from '../../model/datamart/source-schema.js';
import { WrongCall } from '../kit/exit.js';
import { type Asking, answerTo, type Flags, findTable } from './questions.js';

/** The tables that a flag names, each of which a proposal is about. Throws WrongCall. */
const readTables = (
  flag: string,
  names: readonly string[] = [],
  tables: readonly SourceTable[],
  proposed: readonly ProposedBaseFilter[],
): readonly TableRef[] =>
  names.map((name) => {
    const table = findTable(tables, name);
    if (proposed.some((one) => sameTable(one, table))) return table;
    const known = [...new Set(proposed.map(qualifiedName))].join(', ') || 'none';
    throw new WrongCall(
      `${flag}: no base filter is proposed for ${qualifiedName(table)}; tables with one are: ${known}`,
    );
  });

/** The base filters that are taken if nothing is asked: certain ones, and those of the tables that flags name. */
export const takenBaseFilters = (
  { baseFilter, withoutBaseFilter }: Flags,
  tables: readonly SourceTable[],
  proposed: readonly ProposedBaseFilter[],
): readonly ProposedBaseFilter[] => {
  const wanted = readTables('--base-filter', baseFilter, tables, proposed);
  const unwanted = readTables('--without-base-filter', withoutBaseFilter, tables, proposed);
  const isIn = (list: readonly TableRef[], one: TableRef): boolean => list.some((table) => sameTable(table, one));
  return proposed.filter((one) => !isIn(unwanted, one) && (one.isCertain || isIn(wanted, one)));
};

/** Asks which of the proposed base filters are wanted. Those that are taken without a question are selected. */
export const askBaseFilters = async (
  asking: Asking,
  proposed: readonly ProposedBaseFilter[],
  taken: readonly ProposedBaseFilter[],
): Promise<readonly ProposedBaseFilter[]> => {
  if (asking === null || proposed.length === 0) return taken;
  const options = proposed.map((one, at) => ({
    value: at,
    label: `${qualifiedName(one)}: only rows where ${baseFilterWords(one.filter)}`,
    hint: one.reason,
  }));
  const initialValues = proposed.flatMap((one, at) => (taken.includes(one) ? [at] : []));
  const message = 'Every chart would leave out the other rows of these tables. Deselect what you do not want.';
  const question = asking.multiselect({ message, options, initialValues, required: false, maxItems: 12 });
  const chosen = await answerTo(asking, question);
  return proposed.filter((_, at) => chosen.includes(at));
};
