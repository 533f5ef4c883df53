/** Names of tenants, on each database: of whom they are, and that nothing else of the table is read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine, TenantNamesQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { createLoggedEngine, type Place, refusalOf, stays } from './world.js';

const secret = 'secret-of-the-tenant';

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('tenant-names', [
      {
        name: 'odd; name',
        columns: { id: 'VARCHAR', name: 'VARCHAR', secret: 'VARCHAR' },
        rows: [
          ['a', 'Acme 100%', secret],
          ['A', 'Other Acme', secret],
          ['b', null, secret],
          ["c' OR 1=1 --", 'Quote', secret],
        ],
      },
      {
        name: 'numbered',
        columns: { id: 'BIGINT', name: 'VARCHAR' },
        rows: [
          [1, 'One'],
          [2, 'Two'],
        ],
      },
    ]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const ask = (
    wanted: TenantNamesQuestion['wanted'],
    master: Partial<TenantNamesQuestion['master']> = {},
    limit = 10,
  ) =>
    engine.tenantNames(
      {
        datasource: place.datasource,
        master: {
          ...{ schemaName: place.schemaName, tableName: 'odd; name', keyColumn: 'id', nameColumn: 'name' },
          ...{ clientColumnType: 'STRING' },
          ...master,
        },
        wanted,
        limit,
        timeoutMs: 5_000,
      },
      stays,
    );
  const numbers = { tableName: 'numbered', clientColumnType: 'NUMBER' } as const;

  it('answers which of the ids have a row, and their names, compared byte by byte', async () => {
    const several = await ask({ by: 'id', clientIds: ['a', 'b', 'nobody'] });
    expect(several.toSorted((left, right) => left.clientId.localeCompare(right.clientId))).toEqual([
      { clientId: 'a', name: 'Acme 100%' },
      { clientId: 'b', name: null },
    ]);
    const quoted = ["c' OR 1=1 --"];
    expect(await ask({ by: 'id', clientIds: quoted })).toEqual([{ clientId: quoted[0], name: 'Quote' }]);
    expect(await ask({ by: 'id', clientIds: ['2', '02', 'two', '99999999999999999999'] }, numbers)).toEqual([
      { clientId: '2', name: 'Two' },
    ]);
    expect(await ask({ by: 'id', clientIds: ['two'] }, numbers)).toEqual([]);
  });

  it('finds tenants whose name contains all words, which hold no wildcards, and no more than the limit', async () => {
    const found = async (...words: string[]) => (await ask({ by: 'name', words })).map(({ clientId }) => clientId);
    expect(await found('ACME')).toEqual(['a', 'A']);
    expect(await found('acme', 'other')).toEqual(['A']);
    expect(await found('0%')).toEqual(['a']);
    for (const word of ['_', '%%', secret]) expect(await found(word)).toEqual([]);
    expect(await ask({ by: 'name', words: ['acme'] }, {}, 1)).toEqual([{ clientId: 'a', name: 'Acme 100%' }]);
  });

  it('answers no name if the table or a column is not there, and refuses a key column of another type', async () => {
    for (const master of [{ tableName: 'nothing' }, { nameColumn: 'nothing' }, { nameColumn: 'name FROM x --' }]) {
      expect(await ask({ by: 'id', clientIds: ['a'] }, master)).toEqual([]);
    }
    const wrong = { tableName: 'numbered', clientColumnType: 'STRING' } as const;
    expect((await refusalOf(() => ask({ by: 'id', clientIds: ['1'] }, wrong))).code).toBe('METRIC_QUERY_ERROR');
  });
});
