/** Tables whose rows several tenants share, such as users: the operator says which columns of them tenants read. */
import { qualifiedName, sameTable } from '../../model/datamart/datamart.js';
import { type TakenBridge, whyHidden } from '../../model/datamart/model-draft.js';
import type { ProposedBridge } from '../../model/datamart/source-proposals.js';
import type { SourceTable } from '../../model/datamart/source-schema.js';
import { WrongCall } from '../kit/exit.js';
import { type Asking, answerTo, findTable } from './questions.js';

/** The key by which other tables refer to the rows, and the columns that are proposed beside it. */
const partsOf = ({ through: { columns } }: ProposedBridge) => ({ key: columns.slice(0, 1), names: columns.slice(1) });

const taken = (bridge: ProposedBridge, names: readonly string[]): TakenBridge => {
  const { schemaName, tableName, through } = bridge;
  const columns = [...new Set([...partsOf(bridge).key, ...names])];
  return { schemaName, tableName, through: { ...through, columns } };
};

/** `app.users=name,department`, as the flag takes it. */
export const bridgeFlag = (bridge: ProposedBridge, more: readonly string[] = []): string =>
  `${qualifiedName(bridge)}=${[...partsOf(bridge).names, ...more].join(',')}`;

const assertReadable = (text: string, table: SourceTable, names: readonly string[]): void => {
  for (const name of names) {
    const column = table.columns.find(({ columnName }) => columnName === name);
    const because = column === undefined ? 'there is no such column' : whyHidden(column);
    if (because === null) continue;
    const known = table.columns.filter((one) => whyHidden(one) === null).map(({ columnName }) => columnName);
    throw new WrongCall(
      `--through ${text}: column "${name}" cannot be read (${because}); the columns that can are: ${known.join(', ')}`,
    );
  }
};

/** Reads `table` or `table=column,column`. Without columns, the proposed ones are taken. Throws WrongCall. */
export const readBridges = (
  given: readonly string[],
  tables: readonly SourceTable[],
  proposed: readonly ProposedBridge[],
): readonly TakenBridge[] =>
  given.map((text) => {
    const [name = '', list] = text.split(/=(.*)/s);
    const table = findTable(tables, name);
    const bridge = proposed.find((one) => sameTable(one, table));
    if (bridge === undefined) {
      const known = proposed.map(qualifiedName).join(', ') || 'none';
      throw new WrongCall(
        `--through ${text}: no table says which tenants share the rows of ${qualifiedName(table)}; tables with shared rows are: ${known}`,
      );
    }
    const names = list?.split(',').filter((one) => one !== '') ?? partsOf(bridge).names;
    assertReadable(text, table, names);
    return taken(bridge, names);
  });

/** Asks about each bridge that was not named by a flag. Names are selected; e-mail addresses and the like are not. */
export const askBridges = async (
  asking: Asking,
  proposed: readonly ProposedBridge[],
  given: readonly TakenBridge[],
): Promise<readonly TakenBridge[]> => {
  const answers = [...given];
  if (asking === null) return answers;
  for (const bridge of proposed.filter((one) => !given.some((other) => sameTable(one, other)))) {
    const { names } = partsOf(bridge);
    const options = [
      ...names.map((value) => ({ value, label: value })),
      ...bridge.askedColumns.map((value) => ({ value, label: value, hint: 'tells of a person' })),
    ];
    if (options.length === 0) continue;
    const message = `${qualifiedName(bridge)}: ${bridge.reason}. A tenant would read these columns of the rows that it shares, with what other tenants wrote there. Which? (none leaves the table out)`;
    const question = asking.multiselect({ message, options, initialValues: [...names], required: false, maxItems: 12 });
    const chosen = await answerTo(asking, question);
    if (chosen.length > 0) answers.push(taken(bridge, chosen));
  }
  return answers;
};
