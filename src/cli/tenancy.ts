/** `guestlist tenancy`: whose the rows of a datamart's tables are, as the running service says. */
import { Command } from '@commander-js/extra-typings';
import type { z } from 'zod';
import { getDatamartTenancy } from '../service/datamarts/contract/tenancy.js';
import { jsonOption, printAnswer, serviceUrl } from './kit/declare.js';
import { Exit } from './kit/exit.js';
import { tableText } from './kit/terminal.js';
import { readService } from './operator.js';

const answer = getDatamartTenancy.output.shape.data;
type Table = z.output<typeof answer>['tables'][number];

const columnOf = ({ clientColumn }: Table): string =>
  clientColumn === null ? '' : `${clientColumn.table}.${clientColumn.column}`;

const pathOf = (table: Table): string => {
  const steps = table.path.map(
    ({ relationshipName, fromTable, fromColumn, toTable, toColumn }) =>
      `${fromTable}.${fromColumn} = ${toTable}.${toColumn} (${relationshipName})`,
  );
  return [...steps, `client column ${columnOf(table)}`].join(', ');
};

/** By kind: whose the rows are, and why. */
const words: Readonly<Record<Table['kind'], (table: Table) => readonly [string, string]>> = {
  column: (table) => ['one client', `client column ${columnOf(table)}; nobody reads rows where it is empty`],
  master: (table) => ['one client', `key ${columnOf(table)} of the table of clients`],
  path: (table) => ['one client', pathOf(table)],
  bridge: (table) => ['clients that refer to the row', pathOf(table)],
  shared: () => ['all clients', 'listed in sharedTables'],
  database: () => ['one client', "in the client's own database"],
  none: () => ['no client', 'the datamart has no tenancySettings; the only clientId is None'],
  unreadable: ({ message }) => ['UNREADABLE', message ?? ''],
};

export const tenancyCommand = new Command()
  .description(
    `Shows table by table whose the rows of a datamart's tables are: by which column or path a row belongs to a client, or
why no query may read the table, and what to change. Asks the running service with GUESTLIST_SERVICE_TOKEN, or the token in
the data folder. Ends with 1 if queries may not read a table.`,
  )
  .argument('<datamart>')
  .addOption(jsonOption)
  .addOption(serviceUrl)
  .action(async (datamartName, { json, url }) => {
    const result = answer.parse(await readService('/data-app/datamarts/tenancy', { datamartName }, url));
    const rows = result.tables.map((table) => [table.table, ...words[table.kind](table)]);
    printAnswer(json, { json: result, text: tableText(['TABLE', 'ROWS OF', 'WHY'], rows) });
    if (result.tables.some(({ kind }) => kind === 'unreadable')) throw new Exit();
  });
