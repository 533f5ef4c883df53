import { expect, it } from 'vitest';
import { createDatasource } from '../../../src/service/datasources/contract/datasources.js';

const credentials = { name: 'columns', host: 'db', username: 'reader', password: '', database: 'shop' };

it.each([
  ['CLICKHOUSE', {}, 8123],
  ['ClickHouse', { isSsl: true }, 8443],
  ['CLICKHOUSE', { isSsl: true, port: 443 }, 443],
  ['POSTGRES', { isSsl: true }, 5432],
  ['MYSQL', {}, 3306],
])('the usual port of %s with %o is %i', (datasourceType, parts, port) => {
  const body = { datasourceType, credentials: { ...credentials, ...parts } };
  expect(createDatasource.bindings[0]?.input?.parse(body)).toMatchObject({ credentials: { port } });
});
