/** Section 11 of the interface, "Semantic layer of a datamart", with its rules on layers that exist or do not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../product/guest.js';
import { clientsTable, columns, createSales, productsTable, salesTable } from './datamarts.js';
import {
  call,
  firstSentence,
  type House,
  type Input,
  mint,
  noon,
  ok,
  openHouse,
  type Pair,
  refused,
  setNow,
} from './house.js';

let house: House;
let made = 0;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const path = '/api/v2/data-app/datamarts/semantic-layer';

/** Creates a datamart, and returns functions to write and read its layer. */
const open = async (parts: Input = {}) => {
  made += 1;
  const name = `semantic-${made}`;
  await createSales(house, name, parts);
  return {
    name,
    create: (input: Input) => ok(house, 'createSemanticLayer', { datamartName: name, ...input }),
    update: (input: Input) => ok(house, 'updateSemanticLayer', { datamartName: name, ...input }),
    remove: () => ok(house, 'deleteSemanticLayer', { datamartName: name }),
    wrong: (pair: Pair, input: Input) => refused(pair, house, { datamartName: name, ...input }),
    read: async () => (await ok(house, 'getSemanticLayer', { datamartName: name })).data,
    table: async (of: string) => {
      const { data } = await ok(house, 'getSemanticLayer', { datamartName: name });
      return data.tables.find((item) => item.name === of);
    },
  };
};

const content = { tables: [{ name: 'sales', description: 'What was sold' }] };

describe('existence', () => {
  test('no semantic layer exists, POST: created; response id is the datamart name', async () => {
    const { name, create } = await open();
    expect(await create(content)).toEqual({ id: name });
  });

  test('semantic layer exists, POST: fails with SEMANTIC_LAYER_ALREADY_EXISTS, and changes nothing', async () => {
    const { create, wrong, read } = await open();
    await create(content);
    const before = await read();
    await wrong('createSemanticLayer SEMANTIC_LAYER_ALREADY_EXISTS', { feedback: 'second' });
    expect(await read()).toEqual(before);
  });

  test('semantic layer exists, PUT: updated', async () => {
    const { name, create, update, read } = await open();
    await create(content);
    expect(await update({ feedback: 'Good' })).toEqual({ id: name });
    expect((await read()).feedback).toBe('Good');
  });

  test('no semantic layer exists, PUT: fails with SEMANTIC_LAYER_NOT_FOUND', async () => {
    const { wrong, read } = await open();
    await wrong('updateSemanticLayer SEMANTIC_LAYER_NOT_FOUND', content);
    expect((await read()).lastUpdated).toBeNull();
  });

  test('semantic layer exists, DELETE: removed with all descriptions, synonyms, column types and feedback', async () => {
    const { name, create, remove, read } = await open();
    const empty = await read();
    await create({
      feedback: 'Good',
      tables: [
        {
          name: 'sales',
          description: 'What was sold',
          synonyms: ['deals'],
          columns: [
            { name: 'amount', description: 'Cents', synonyms: ['price'], columnType: 'Number', isIdentifier: true },
          ],
        },
      ],
    });
    expect(await read()).not.toEqual(empty);
    expect(await remove()).toEqual({ id: name });
    expect(await read()).toEqual(empty);
    await create({ feedback: 'Again' });
    expect(await read()).toMatchObject({ tables: empty.tables, feedback: 'Again' });
  });

  test('no semantic layer exists, DELETE: fails with SEMANTIC_LAYER_NOT_FOUND', async () => {
    const { wrong, create, remove } = await open();
    await wrong('deleteSemanticLayer SEMANTIC_LAYER_NOT_FOUND', {});
    await create(content);
    await remove();
    await wrong('deleteSemanticLayer SEMANTIC_LAYER_NOT_FOUND', {});
  });

  test('of ten simultaneous POSTs, exactly one succeeds', async () => {
    const { name } = await open();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(house, 'createSemanticLayer', { datamartName: name, ...content })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
  });

  test("simultaneous PUTs do not lose each other's changes", async () => {
    const { create, update, read } = await open();
    await create({ feedback: 'first' });
    await Promise.all([
      update({ tables: [{ name: 'sales', description: 'one' }] }),
      update({ tables: [{ name: 'products', description: 'two' }] }),
      update({ tables: [{ name: 'sales', synonyms: ['three'] }] }),
      update({ feedback: 'four' }),
    ]);
    expect(await read()).toMatchObject({
      feedback: 'four',
      tables: [
        { name: 'sales', description: 'one', synonyms: ['three'] },
        { name: 'products', description: 'two' },
      ],
    });
  });
});

test('expectedLastUpdated: a change after the version that was read is refused with 409, and writes nothing', async () => {
  const { create, update, wrong, read } = await open();
  await create(content);
  const { lastUpdated } = await read();
  await update({ feedback: 'first', expectedLastUpdated: lastUpdated });
  const now = await read();
  // Two versions never have the same time, even if the clock stands still.
  expect(now.lastUpdated).not.toBe(lastUpdated);
  await wrong('updateSemanticLayer SEMANTIC_LAYER_CHANGED', { feedback: 'second', expectedLastUpdated: lastUpdated });
  expect(await read()).toEqual(now);
});

test('completionScore does not count what the datamart hides', async () => {
  const hidden = { ...productsTable, isHide: true };
  const { create, read } = await open({
    tableList: [{ ...salesTable, columns: columns('sold') }, hidden],
    relationships: [],
  });
  await create({
    tables: [
      {
        name: 'sales',
        description: 'What was sold',
        synonyms: ['orders'],
        columns: [{ name: 'sold', description: 'When', synonyms: ['moment'], columnType: 'Range' }],
      },
    ],
    feedback: 'Times are UTC.',
  });
  expect((await read()).completionScore).toBe(100);
});

describe('GET', () => {
  test('on a datamart with no semantic content: null descriptions, empty synonyms, null feedback, completionScore 0 and lastUpdated null', async () => {
    const { name, read } = await open({ tableList: [productsTable], relationships: [] });
    const column = (columnName: string, datatype: string) => ({
      name: columnName,
      datatype,
      description: null,
      synonyms: [],
      miscellaneousInfo: null,
      columnType: null,
      columnTypeConfig: null,
      isIdentifier: false,
      isNotIndexed: false,
    });
    expect(await read()).toEqual({
      datamartName: name,
      tables: [
        {
          name: 'products',
          schemaName: 'main',
          description: null,
          synonyms: [],
          miscellaneousInfo: null,
          columns: [column('id', 'INTEGER'), column('label', 'VARCHAR')],
        },
      ],
      feedback: null,
      completionScore: 0,
      lastUpdated: null,
    });
  });

  test('returns what was written, and lastUpdated', async () => {
    const { create, update, read } = await open();
    await create({
      feedback: 'Amounts are cents.',
      tables: [
        {
          name: 'main.sales',
          description: 'What was sold',
          synonyms: ['deals', 'orders'],
          columns: [
            {
              name: 'client',
              description: 'Whose',
              synonyms: ['customer'],
              columnType: 'Identifier',
              isIdentifier: true,
            },
            { name: 'region', columnType: 'ENUM' },
          ],
        },
      ],
    });
    const { tables, feedback, lastUpdated } = await read();
    expect([feedback, lastUpdated]).toEqual(['Amounts are cents.', noon.toISOString()]);
    expect(tables[0]).toMatchObject({ name: 'sales', description: 'What was sold', synonyms: ['deals', 'orders'] });
    const [client, sold, , region] = tables[0]?.columns ?? [];
    expect(client).toMatchObject({
      description: 'Whose',
      synonyms: ['customer'],
      columnType: 'Identifier',
      isIdentifier: true,
    });
    expect(sold).toMatchObject({ name: 'sold', description: null, columnType: null, isIdentifier: false });
    expect(region).toMatchObject({ name: 'region', columnType: 'ENUM', isIdentifier: false });
    setNow(new Date(noon.getTime() + 5000));
    await update({ feedback: 'Later' });
    setNow(noon);
    expect((await read()).lastUpdated).toBe('2024-04-20T12:00:05.000Z');
  });

  test('INVALID_DATAMART for an unknown datamart; also used when datamartName is missing', async () => {
    expect(await refused('getSemanticLayer INVALID_DATAMART', house, { datamartName: 'nowhere' })).toContain(
      '"nowhere"',
    );
    expect(await refused('getSemanticLayer INVALID_DATAMART', house, {})).toContain('datamartName');
    expect(await refused('getSemanticLayer INVALID_DATAMART', house, { datamartName: '' })).toContain('datamartName');
    const { name } = await open();
    await refused('getSemanticLayer INVALID_DATAMART', house, { datamartName: name.toUpperCase() });
  });

  test('other parameters are refused', async () => {
    const { wrong } = await open();
    await wrong('getSemanticLayer INVALID_REQUEST_BODY', { feedback: 'x' });
  });
});

describe('DELETE', () => {
  test('query datamartName (string, required); an unknown datamart is INVALID_DATAMART', async () => {
    await refused('deleteSemanticLayer INVALID_DATAMART', house, { datamartName: 'nowhere' });
    await refused('deleteSemanticLayer INVALID_REQUEST_BODY', house, {});
  });
});

/** Literal strings, so that test/conventions.test.ts finds each error as provoked. */
const pairs = {
  createSemanticLayer: {
    INVALID_REQUEST_BODY: 'createSemanticLayer INVALID_REQUEST_BODY',
    INVALID_DATAMART: 'createSemanticLayer INVALID_DATAMART',
    INVALID_TABLE: 'createSemanticLayer INVALID_TABLE',
    INVALID_COLUMN: 'createSemanticLayer INVALID_COLUMN',
    INVALID_COLUMN_TYPE: 'createSemanticLayer INVALID_COLUMN_TYPE',
    DUPLICATE_SYNONYM: 'createSemanticLayer DUPLICATE_SYNONYM',
  },
  updateSemanticLayer: {
    INVALID_REQUEST_BODY: 'updateSemanticLayer INVALID_REQUEST_BODY',
    INVALID_DATAMART: 'updateSemanticLayer INVALID_DATAMART',
    INVALID_TABLE: 'updateSemanticLayer INVALID_TABLE',
    INVALID_COLUMN: 'updateSemanticLayer INVALID_COLUMN',
    INVALID_COLUMN_TYPE: 'updateSemanticLayer INVALID_COLUMN_TYPE',
    DUPLICATE_SYNONYM: 'updateSemanticLayer DUPLICATE_SYNONYM',
  },
} as const;

describe.each(['createSemanticLayer', 'updateSemanticLayer'] as const)('the body of %s', (operation) => {
  /** Returns a datamart in the state that the operation needs. */
  const ready = async (parts: Input = {}) => {
    const opened = await open(parts);
    if (operation === 'updateSemanticLayer') await opened.create({ feedback: 'first' });
    const write = (input: Input) => ok(house, operation, { datamartName: opened.name, ...input });
    const wrong = (code: keyof (typeof pairs)[typeof operation], input: Input) =>
      opened.wrong(pairs[operation][code], input);
    return { ...opened, write, wrong };
  };

  test('at least one of tables and feedback must be present, else INVALID_REQUEST_BODY', async () => {
    const { wrong, write } = await ready();
    expect(await wrong('INVALID_REQUEST_BODY', {})).toContain('at least one of tables and feedback');
    await write({ tables: [] });
  });

  test('datamartName: required; unknown is INVALID_DATAMART', async () => {
    await refused(pairs[operation].INVALID_REQUEST_BODY, house, content);
    await refused(pairs[operation].INVALID_DATAMART, house, { datamartName: 'nowhere', ...content });
  });

  test('a table must exist in the datamart: INVALID_TABLE', async () => {
    const { wrong, read } = await ready();
    const before = await read();
    for (const name of ['notes', 'Sales', 'eu.sales', '']) {
      const code = name === '' ? 'INVALID_REQUEST_BODY' : 'INVALID_TABLE';
      expect(await wrong(code, { tables: [{ name: 'products', description: 'x' }, { name }] })).toContain(
        'tables[1].name',
      );
    }
    expect(await read()).toEqual(before);
  });

  test('a name that two tables have is refused; schema.table is accepted', async () => {
    const tableList = [salesTable, { ...salesTable, schemaName: 'eu' }, productsTable];
    const { wrong, write, read } = await ready({ tableList, relationships: [] });
    expect(await wrong('INVALID_TABLE', { tables: [{ name: 'sales' }] })).toContain('schema.table');
    await write({ tables: [{ name: 'eu.sales', description: 'There' }] });
    expect((await read()).tables.map(({ description }) => description)).toEqual([null, 'There', null]);
  });

  test('a column must exist in the table: INVALID_COLUMN', async () => {
    const { wrong } = await ready();
    for (const name of ['paid', 'Amount', 'id']) {
      const message = await wrong('INVALID_COLUMN', {
        tables: [{ name: 'sales', columns: [{ name: 'amount' }, { name }] }],
      });
      expect(message).toContain(`tables[0].columns[1].name: got string ${JSON.stringify(name)}`);
    }
  });

  test('a table or column that is named twice is refused', async () => {
    const { wrong } = await ready();
    const twice = { tables: [{ name: 'sales' }, { name: 'main.sales' }] };
    expect(await wrong('INVALID_REQUEST_BODY', twice)).toContain('tables[1].name');
    const column = { tables: [{ name: 'sales', columns: columns('amount', 'amount') }] };
    expect(await wrong('INVALID_REQUEST_BODY', column)).toContain('tables[0].columns[1].name');
  });

  test.each<[string, readonly string[]]>([
    ['client', ['String', 'ENUM', 'Identifier', 'Expression', 'JSON']],
    ['amount', ['Number', 'Range', 'ENUM', 'Identifier']],
    ['sold', ['Range']],
    ['paid', ['ENUM']],
  ])('columnType of %s must be compatible with its datatype: %j, else INVALID_COLUMN_TYPE', async (name, fitting) => {
    const tableList = [
      { ...salesTable, columns: columns('client', 'amount', 'sold', 'paid', 'product') },
      productsTable,
    ];
    const { name: datamartName, create } = await open({ tableList });
    await create({ feedback: 'x' });
    for (const columnType of ['String', 'Number', 'ENUM', 'Range', 'Identifier', 'Expression', 'JSON']) {
      const input = { datamartName, tables: [{ name: 'sales', columns: [{ name, columnType }] }] };
      if (fitting.includes(columnType)) await ok(house, 'updateSemanticLayer', input);
      else
        expect(await refused('updateSemanticLayer INVALID_COLUMN_TYPE', house, input)).toContain(
          `got string "${columnType}"`,
        );
    }
  });

  test('an unknown columnType is INVALID_COLUMN_TYPE, with a list of the known types', async () => {
    const { wrong } = await ready();
    for (const columnType of ['Text', 'number', 'enum', 'constructor']) {
      const message = await wrong('INVALID_COLUMN_TYPE', {
        tables: [{ name: 'sales', columns: [{ name: 'amount', columnType }] }],
      });
      expect(message).toContain('one of String, Number, ENUM, Range, Identifier, Expression, JSON');
    }
  });

  test.each<[string, Input]>([
    ['of the table itself', { synonyms: ['deals', 'deals'] }],
    [
      'of two columns',
      {
        columns: [
          { name: 'amount', synonyms: ['value'] },
          { name: 'region', synonyms: ['value'] },
        ],
      },
    ],
    ['of one column', { columns: [{ name: 'amount', synonyms: ['value', 'value'] }] }],
    ['of the table and a column', { synonyms: ['value'], columns: [{ name: 'amount', synonyms: ['value'] }] }],
    ['whatever the case', { synonyms: ['Deals', 'dEALS '] }],
    ['whatever the form of Unicode', { synonyms: ['caf\u00e9', 'cafe\u0301'] }],
  ])('duplicate synonyms within a table are rejected: %s', async (_, table) => {
    const { wrong, read } = await ready();
    const before = await read();
    await wrong('DUPLICATE_SYNONYM', { tables: [{ name: 'sales', ...table }] });
    expect(await read()).toEqual(before);
  });

  test('two tables may share a synonym', async () => {
    const { write } = await ready();
    await write({
      tables: [
        { name: 'sales', synonyms: ['thing'] },
        { name: 'products', synonyms: ['thing'] },
      ],
    });
  });

  test('at most ten synonyms for one table or column', async () => {
    const { wrong, write } = await ready();
    const synonyms = Array.from({ length: 11 }, (_, index) => `s${index}`);
    await wrong('INVALID_REQUEST_BODY', { tables: [{ name: 'sales', synonyms }] });
    await wrong('INVALID_REQUEST_BODY', { tables: [{ name: 'sales', columns: [{ name: 'amount', synonyms }] }] });
    await write({ tables: [{ name: 'sales', synonyms: synonyms.slice(1) }] });
  });

  test('other fields are refused', async () => {
    const { wrong } = await ready();
    await wrong('INVALID_REQUEST_BODY', { ...content, completionScore: 100 });
    await wrong('INVALID_REQUEST_BODY', { tables: [{ name: 'sales', schemaName: 'main' }] });
    await wrong('INVALID_REQUEST_BODY', { tables: [{ name: 'sales', columns: [{ name: 'amount', datatype: 'x' }] }] });
  });
});

describe('PUT changes only the named fields', () => {
  const full = {
    feedback: 'Good',
    tables: [
      {
        name: 'sales',
        description: 'What was sold',
        synonyms: ['deals'],
        columns: [
          { name: 'amount', description: 'Cents', synonyms: ['price'], columnType: 'Number', isIdentifier: true },
        ],
      },
    ],
  };

  test('missing fields keep their values', async () => {
    const { create, update, read } = await open();
    await create(full);
    const before = await read();
    await update({ tables: [] });
    await update({ tables: [{ name: 'sales', columns: [{ name: 'amount' }] }] });
    expect(await read()).toEqual({ ...before, lastUpdated: expect.any(String) });
    await update({ tables: [{ name: 'sales', columns: [{ name: 'amount', description: 'Euros' }] }] });
    const [sales] = (await read()).tables;
    expect(sales).toMatchObject({ description: 'What was sold', synonyms: ['deals'] });
    expect(sales?.columns[2]).toMatchObject({
      description: 'Euros',
      synonyms: ['price'],
      columnType: 'Number',
      isIdentifier: true,
    });
  });

  test('null and empty text clear a field, and so does an empty list', async () => {
    for (const cleared of [null, '']) {
      const { create, update, read } = await open();
      const empty = await read();
      await create(full);
      const column = { name: 'amount', description: cleared, synonyms: [], columnType: cleared, isIdentifier: false };
      await update({
        feedback: cleared,
        tables: [{ name: 'sales', description: cleared, synonyms: [], columns: [column] }],
      });
      expect(await read()).toEqual({ ...empty, lastUpdated: expect.any(String) });
    }
  });

  test('a synonym that the table already has is a duplicate', async () => {
    const { create, update, wrong } = await open();
    await create(full);
    const clash = { tables: [{ name: 'sales', columns: [{ name: 'region', synonyms: ['Deals'] }] }] };
    await wrong('updateSemanticLayer DUPLICATE_SYNONYM', clash);
    await update({ tables: [{ name: 'sales', synonyms: [], columns: [{ name: 'region', synonyms: ['Deals'] }] }] });
  });
});

describe('when the tables of the datamart change', () => {
  const notes = {
    tables: [
      { name: 'clients', description: 'Who' },
      { name: 'products', columns: [{ name: 'id', columnType: 'Number' }] },
    ],
  };
  const parts = { tableList: [clientsTable, productsTable], relationships: [], sharedTables: [] };
  const replace = (datamartName: string, tableList: readonly Input[]) =>
    ok(house, 'updateDatamart', { datamartName, tableList });

  test('notes on removed tables are not shown, and are shown again if the table returns', async () => {
    const { name, create, read } = await open(parts);
    await create(notes);
    const before = await read();
    await replace(name, [{ ...productsTable, columns: columns('label') }]);
    expect(await read()).toMatchObject({
      tables: [{ name: 'products', columns: [{ name: 'label' }] }],
      completionScore: 0,
    });
    await replace(name, [clientsTable, productsTable]);
    expect(await read()).toEqual(before);
  });

  test('the next write drops them', async () => {
    const { name, create, update, table } = await open(parts);
    await create(notes);
    await replace(name, [productsTable]);
    await update({ feedback: 'Clients are gone' });
    await replace(name, [clientsTable, productsTable]);
    expect(await table('clients')).toMatchObject({ description: null });
    expect((await table('products'))?.columns[0]).toMatchObject({ name: 'id', columnType: 'Number' });
  });
});

test('completionScore grows from 0 to 100 with the filled fields', async () => {
  const { create, update, read } = await open({ tableList: [productsTable], relationships: [] });
  await create({ tables: [] });
  const scores = [(await read()).completionScore];
  const steps = [
    { feedback: 'Good' },
    { tables: [{ name: 'products', description: 'What we sell' }] },
    { tables: [{ name: 'products', synonyms: ['goods'] }] },
    { tables: [{ name: 'products', columns: [{ name: 'id', description: 'Number', columnType: 'Identifier' }] }] },
    { tables: [{ name: 'products', columns: [{ name: 'label', description: 'Name', columnType: 'String' }] }] },
    {
      tables: [
        {
          name: 'products',
          columns: [
            { name: 'id', synonyms: ['key'] },
            { name: 'label', synonyms: ['name'] },
          ],
        },
      ],
    },
  ];
  for (const step of steps) {
    await update(step);
    scores.push((await read()).completionScore);
  }
  expect(scores).toEqual([0, 5, 25, 35, 60, 85, 100]);
});

test('Auth: a service token is required; an API key, a guest token, a wrong one or none: 403 AUTHENTICATION_ERROR', async () => {
  const { name } = await open();
  const input = { datamartName: name, feedback: 'x' };
  for (const bearer of [null, 'wrong', house.apiKey, house.endedKey, await mint(house, 'acme')]) {
    const sent = { bearer };
    for (const pair of [
      'createSemanticLayer AUTHENTICATION_ERROR',
      'updateSemanticLayer AUTHENTICATION_ERROR',
    ] as const) {
      expect(firstSentence(await refused(pair, house, input, sent))).toBe('invalid service token');
    }
    await refused('getSemanticLayer AUTHENTICATION_ERROR', house, { datamartName: name }, sent);
    await refused('deleteSemanticLayer AUTHENTICATION_ERROR', house, { datamartName: name }, sent);
  }
  const answer = await request(`${house.url()}${path}?datamartName=${name}`);
  expect(answer.status).toBe(403);
});
