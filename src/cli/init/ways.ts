/** Tables from which several ways lead to a tenant: the operator says which of them says whose the rows are. */
import { qualifiedName, sameTable } from '../../model/datamart/datamart.js';
import type { Draft, LeftOut } from '../../model/datamart/model-draft.js';
import type { ProposedRelationship } from '../../model/datamart/source-proposals.js';
import type { SourceTable } from '../../model/datamart/source-schema.js';
import { WrongCall } from '../kit/exit.js';
import { type Asking, answerTo, findTable } from './questions.js';

/** Names of relationships, by the names of their tables. */
export type Paths = ReadonlyMap<string, string>;

/** Reads `table=relationship`. The relationship is named by its name or by its column. Throws WrongCall. */
export const readPaths = (
  given: readonly string[],
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
): Paths =>
  new Map(
    given.map((text) => {
      const at = text.indexOf('=');
      const table = findTable(tables, text.slice(0, Math.max(at, 0)));
      const name = text.slice(at + 1);
      const own = relationships.filter(({ parent }) => sameTable(parent, table));
      const found = own.find(({ relationshipName, parent }) => [relationshipName, parent.columnName].includes(name));
      if (found !== undefined) return [qualifiedName(table), found.relationshipName];
      const known = own.map(({ relationshipName }) => relationshipName).join(', ') || 'none';
      throw new WrongCall(
        `--tenancy-path ${text}: give TABLE=RELATIONSHIP; the relationships of ${qualifiedName(table)} are: ${known}`,
      );
    }),
  );

const leaveOut = '';

/**
 * Asks about one table after the other, since an answer may settle the tables behind it. Returns the relationships with
 * those of `given`, about which nothing is asked. The best way comes first.
 */
export const askWays = async (
  asking: NonNullable<Asking>,
  draftFor: (paths: Paths) => Draft,
  given: Paths = new Map(),
): Promise<Paths> => {
  const paths = new Map(given);
  const asked = new Set<string>();
  const isOpen = ({ table, ways }: LeftOut): boolean => ways.length > 1 && !asked.has(qualifiedName(table));
  for (;;) {
    const open = draftFor(paths).leftOut.find(isOpen);
    if (open === undefined) return paths;
    const name = qualifiedName(open.table);
    asked.add(name);
    const options = [
      ...open.ways.map(({ relationshipName, text, reason }) => ({
        value: relationshipName,
        label: text,
        hint: reason,
      })),
      { value: leaveOut, label: 'none: leave the table out' },
    ];
    const message = `Several keys lead from ${name} to a tenant. Which of them says whose a row is?`;
    const chosen = await answerTo(asking, asking.select({ message, options }));
    if (chosen !== leaveOut) paths.set(name, chosen);
  }
};
