/** `guestlist tenancy`: whose the rows of a datamart's tables are, as the running service says. */
import type { z } from 'zod';
import { getDatamartTenancy } from '../contract/datamart-tenancy.js';
import { parseOptions } from './kit/options.js';
import { tableText } from './kit/terminal.js';
import { readService } from './operator.js';
import { WrongCall } from './wrong-call.js';

export const tenancyUsage = `guestlist tenancy: whose the rows of a datamart's tables are

  guestlist tenancy DATAMART [--json] [--url URL]
                                             table by table: by which column or path a row belongs to a client, or why no
                                             query may read the table, and what to change

It asks the running service with GUESTLIST_SERVICE_TOKEN, or the token in the data folder. Ends with 0 where queries may
read every table, with 1 where they may not read one, with 2 where it is called wrongly.`;

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
  column: (table) => ['one client', `client column ${columnOf(table)}`],
  master: (table) => ['one client', `key ${columnOf(table)} of the table of clients`],
  path: (table) => ['one client', pathOf(table)],
  shared: () => ['all clients', 'listed in sharedTables'],
  database: () => ['one client', "in the client's own database"],
  none: () => ['no client', 'the datamart has no tenancySettings; the only clientId is None'],
  unreadable: ({ message }) => ['UNREADABLE', message ?? ''],
};

/** Runs it. Answers the exit code; throws WrongCall and OperatorError. */
export const runTenancy = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean' }, url: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) {
    console.log(tenancyUsage);
    return 0;
  }
  const [datamartName, ...others] = positionals;
  if (datamartName === undefined || others.length > 0) throw new WrongCall(`name one datamart\n\n${tenancyUsage}`);
  const result = answer.parse(await readService('/data-app/datamarts/tenancy', { datamartName }, values.url));
  if (values.json === true) console.log(JSON.stringify(result, null, 2));
  else {
    const rows = result.tables.map((table) => [table.table, ...words[table.kind](table)]);
    console.log(tableText(['TABLE', 'ROWS OF', 'WHY'], rows));
  }
  return result.tables.some(({ kind }) => kind === 'unreadable') ? 1 : 0;
};
