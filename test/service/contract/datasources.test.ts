import { expect, it } from 'vitest';
import { credentialsOf, readSourceUrl } from '../../../src/model/datamart/source-url.js';
import { variantNames, variants } from '../../../src/model/organization.js';
import { createDatasource } from '../../../src/service/datasources/contract/datasources.js';

const credentials = { name: 'columns', host: 'db', username: 'reader', password: '', database: 'shop' };

it.each<[string, object, number]>([
  ['CLICKHOUSE', {}, 8123],
  ['ClickHouse', { isSsl: true }, 8443],
  ['CLICKHOUSE', { isSsl: true, port: 443 }, 443],
  ['POSTGRES', { isSsl: true }, 5432],
  ['MYSQL', {}, 3306],
  ['redshift', {}, 5439],
  ...variantNames.map((name): [string, object, number] => [name, {}, variants[name].port]),
])('the usual port of %s with %o is %i', (datasourceType, parts, port) => {
  const body = { datasourceType, credentials: { ...credentials, ...parts } };
  expect(createDatasource.bindings[0]?.input?.parse(body)).toMatchObject({ credentials: { port } });
});

it.each(variantNames)('a URL of %s gives what createDatasource takes', (name) => {
  const scheme = name.toLowerCase().replace('_', '-');
  const found = readSourceUrl(`${scheme}://reader:pass@db/shop?sslmode=require`);
  expect(found).toMatchObject({ datasourceType: name, port: variants[name].port, isSsl: true });
  const body = { datasourceType: found.datasourceType, credentials: credentialsOf('shop', found) };
  expect(createDatasource.bindings[0]?.input?.parse(body)).toMatchObject({ datasourceType: name });
});
