/** Columns that are proposed as amounts of money: the operator says which numbers stay as they are stored. */
import { qualifiedName, sameTable } from '../../model/datamart/datamart.js';
import { amountWords } from '../../model/datamart/money.js';
import type { ProposedAmount } from '../../model/datamart/proposed-amounts.js';
import type { SourceTable } from '../../model/datamart/source-schema.js';
import { type Asking, answerTo, type Flags, findTable } from './questions.js';

/** The amounts that are taken if nothing is asked: all but those of the tables that the flag names. Throws WrongCall. */
export const takenAmounts = (
  { withoutAmounts = [] }: Flags,
  tables: readonly SourceTable[],
  proposed: readonly ProposedAmount[],
): readonly ProposedAmount[] => {
  const unwanted = withoutAmounts.map((name) => findTable(tables, name));
  return proposed.filter((one) => !unwanted.some((table) => sameTable(table, one)));
};

/** Asks which of the proposed columns are amounts. Those that are taken without a question are selected. */
export const askAmounts = async (
  asking: Asking,
  proposed: readonly ProposedAmount[],
  taken: readonly ProposedAmount[],
): Promise<readonly ProposedAmount[]> => {
  if (asking === null || proposed.length === 0) return taken;
  const options = proposed.map((one, at) => ({
    value: at,
    label: `${qualifiedName(one)}.${one.columnName}: ${amountWords(one.numbers)}`,
    hint: one.reason,
  }));
  const initialValues = proposed.flatMap((one, at) => (taken.includes(one) ? [at] : []));
  const message = 'These columns are amounts of money. Deselect those whose numbers mean something else.';
  const question = asking.multiselect({ message, options, initialValues, required: false, maxItems: 12 });
  const chosen = await answerTo(asking, question);
  return proposed.filter((_, at) => chosen.includes(at));
};
