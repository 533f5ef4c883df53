/** Tables from which several ways lead to a tenant: the operator says which of them says whose the rows are. */
import { qualifiedName } from '../../model/datamart/datamart.js';
import type { Draft, LeftOut } from './draft.js';
import { type Asking, answerTo } from './questions.js';

const leaveOut = '';

/**
 * Asks about one table after the other, since an answer may settle the tables behind it. Returns the names of the
 * relationships by the names of their tables. Without a terminal nothing is asked, and the tables stay left out.
 */
export const askWays = async (
  asking: Asking,
  draftFor: (paths: ReadonlyMap<string, string>) => Draft,
): Promise<ReadonlyMap<string, string>> => {
  const paths = new Map<string, string>();
  const asked = new Set<string>();
  const isOpen = ({ table, ways }: LeftOut): boolean => ways.length > 1 && !asked.has(qualifiedName(table));
  for (;;) {
    const open = draftFor(paths).leftOut.find(isOpen);
    if (asking === null || open === undefined) return paths;
    const name = qualifiedName(open.table);
    asked.add(name);
    const options = [
      ...open.ways.map(({ relationshipName, text }) => ({ value: relationshipName, label: text })),
      { value: leaveOut, label: 'none: leave the table out' },
    ];
    const message = `Several keys lead from ${name} to a tenant. Which of them says whose a row is?`;
    const chosen = await answerTo(asking, asking.select({ message, options }));
    if (chosen !== leaveOut) paths.set(name, chosen);
  }
};
