/**
 * Checks the host's SQL when it is saved. SQL that the engine would refuse in a query is refused at once, with its
 * place.
 */
import type { SqlPart } from '../../model/dashboard/content-sql.js';
import type { Datamart } from '../../model/datamart/datamart.js';
import type { TableDraft } from '../../model/datamart/tables.js';
import type { DatasourceType } from '../../model/organization.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';

type Checks = Pick<SqlRewriter, 'check'>;

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const faultsOfPart = async (
  { check }: Checks,
  dialect: DatasourceType,
  datamarts: readonly Datamart[],
  { place, text, as, variables }: SqlPart,
): Promise<readonly string[]> => {
  const checked = await check(dialect, text, as);
  if ('fault' in checked) return [`${place}: ${checked.fault}`];
  const isDeclared = (name: string): boolean =>
    isSame(name, 'client_id') || variables.some((variable) => isSame(variable, name));
  const isColumn = (name: string): boolean =>
    datamarts.some(({ tables }) =>
      tables.some(({ columns }) => columns.some(({ columnName }) => isSame(columnName, name))),
    );
  const isTable = (name: string): boolean =>
    datamarts.some(({ tables }) => tables.some(({ tableName }) => isSame(tableName, name)));
  return [
    ...checked.variables
      .filter((name) => !isDeclared(name))
      .map((name) => `${place}: ${name}_variable is not among the metric's rlsVariables`),
    ...(as === 'select' ? checked.names : [])
      .filter((path) => !isTable(path.at(-1) ?? ''))
      .map((path) => `${place}: ${path.join('.')} is no table of the datamart`),
    ...(as === 'expression' ? checked.names : [])
      .filter((path) => !isColumn(path.at(-1) ?? ''))
      .map((path) => `${place}: ${path.join('.')} is no column of the datamart`),
  ];
};

/** Returns all faults of these texts, each with its place. */
export const sqlPartFaults = async (
  checks: Checks,
  dialect: DatasourceType,
  datamarts: readonly Datamart[],
  parts: readonly SqlPart[],
): Promise<readonly string[]> => {
  const faults: string[] = [];
  for (const part of parts) faults.push(...(await faultsOfPart(checks, dialect, datamarts, part)));
  return faults;
};

/**
 * Returns all faults of the custom columns of a datamart's tables. An expression may use only columns of its own table.
 */
export const customColumnFaults = async (
  { check }: Checks,
  dialect: DatasourceType,
  tables: readonly TableDraft[],
): Promise<readonly string[]> => {
  const faults: string[] = [];
  for (const [index, { columns }] of tables.entries()) {
    const isOwn = (name: string): boolean =>
      columns.some((one) => one.isCustomColumn !== true && isSame(one.name, name));
    for (const [at, { isCustomColumn, sql, isAggregate = false }] of columns.entries()) {
      if (isCustomColumn !== true) continue;
      const place = `tableList[${index}].columns[${at}].sql`;
      const checked = await check(dialect, sql ?? '', 'expression');
      if ('fault' in checked) faults.push(`${place}: ${checked.fault}`);
      else {
        const unknown = checked.names.filter((path) => !isOwn(path.at(-1) ?? ''));
        faults.push(...unknown.map((path) => `${place}: ${path.join('.')} is no column of the same table in the list`));
        if (checked.isAggregate && !isAggregate) faults.push(`${place}: it aggregates, so isAggregate must be true`);
      }
    }
  }
  return faults;
};
