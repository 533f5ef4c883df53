/** Estimated numbers of rows, for people in Studio who may and who may not see data. */
import { expect, test } from 'vitest';
import { listDatasourceTables } from '../../src/service/datasources/datasources.js';

const person = (seesData: boolean) =>
  ({ issuer: 'link', subject: 'bob', name: 'Bob', roles: ['author'], seesData }) as const;

test('a table has its estimated number of rows only for those who may see data', async () => {
  const estimated = async (seesData: boolean, estimatedRows: number) => {
    const table = {
      schemaName: 'main',
      tableName: 'pay',
      columns: [],
      primaryKey: [],
      uniqueKeys: [],
      foreignKeys: [],
    };
    const list = listDatasourceTables({
      store: { datasources: { findByName: async () => ({ name: 'db', datasourceType: 'POSTGRES' }) } },
      engine: { introspect: async () => [{ ...table, estimatedRows }] },
    } as never);
    const caller = { kind: 'serviceToken', tokenId: 'none', person: person(seesData) } as const;
    return list(caller, { name: 'db', isPagination: false, pageNumber: 1 });
  };
  expect(await estimated(false, 8)).toEqual(await estimated(false, 900));
  expect((await estimated(true, 8)).tables[0]?.estimatedRows).toBe(8);
  expect((await estimated(false, 8)).tables[0]?.estimatedRows).toBe(null);
});
