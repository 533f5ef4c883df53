/** What an author writes about a model: which requests save it, what a search finds, and what the score says is next. */
import { describe, expect, test } from 'vitest';
import { completionScore } from '../../src/model/datamart/semantic-layer.js';
import { type Api, StudioError } from '../../src/web/studio/base/api.js';
import { aggregateChoices, aggregateOf, withAggregate } from '../../src/web/studio/base/column-aggregates.js';
import {
  precisionChoices,
  styleChoices,
  withDatePrecision,
  withDateStyle,
} from '../../src/web/studio/base/column-dates.js';
import {
  detailOf,
  numberKindOf,
  withDetail,
  withNumberKind,
  withScale,
  withShortNumbers,
} from '../../src/web/studio/base/column-numbers.js';
import { withCalculated, withColumn, withoutColumn, withStoredTable } from '../../src/web/studio/base/model-edit.js';
import {
  type Described,
  findColumns,
  type Notes,
  notesChange,
  semanticTables,
  typesFor,
  withColumnNotes,
  withFeedback,
  withTableNotes,
  wordsFault,
} from '../../src/web/studio/base/model-notes.js';
import { describeScore, placeIn, placeQuery } from '../../src/web/studio/base/model-score.js';
import { tenancyOf } from '../../src/web/studio/base/model-tenancy.js';
import { asRead, PartlySaved, type Saved, saveModel } from '../../src/web/studio/base/save-model.js';
import { column, model, table } from './models.js';

const shop = model([
  table('clients', ['id', 'name']),
  table('orders', ['id', 'client', 'total'], { clientColumn: 'client' }),
]);
const none: Notes = {
  tables: shop.datamartTables.map(({ schemaName, tableName: name, datamartTableColumns }) => ({
    ...{ schemaName, name, description: null, synonyms: [] },
    columns: datamartTableColumns.map(({ columnName }) => ({
      ...{ name: columnName, description: null, synonyms: [], columnType: null, isIdentifier: false },
    })),
  })),
  ...{ feedback: null, lastUpdated: null },
};
const plain: Described = { model: shop, notes: none };

const described = (...changes: readonly ((notes: Notes) => Notes)[]): Described => ({
  model: shop,
  notes: changes.reduce((notes, change) => change(notes), none),
});
const total = (words: Parameters<typeof withColumnNotes>[3]) => (notes: Notes) =>
  withColumnNotes(notes, 'main.orders', 'total', words);

describe('how a new measure of a column is computed', () => {
  const valuesOf = (parts: Parameters<typeof column>[1]) =>
    aggregateChoices(column('total', parts)).map(([value]) => value);

  test('is one of the aggregates that fit its values, and a measure of the model has no choice', () => {
    expect(valuesOf({})).toEqual(['', 'SUM', 'AVG', 'MIN', 'MAX', 'COUNT', 'COUNT_DISTINCT', 'MEDIAN']);
    expect(valuesOf({ datatype: 'VARCHAR' })).toEqual(['', 'MIN', 'MAX', 'COUNT', 'COUNT_DISTINCT']);
    expect(valuesOf({ isCustomColumn: true, sql: 'SUM(total)', isAggregate: true })).toEqual([]);
    expect(aggregateChoices(column('total'))[1]).toEqual(['SUM', 'Measured as total']);
  });

  test('is written as the two fields of the interface, and taken away with both', () => {
    const changed = withColumn(shop, 'main.orders', 'total', withAggregate('AVG'));
    const stored = changed.datamartTables[1]?.datamartTableColumns.find(({ columnName }) => columnName === 'total');
    expect(stored).toMatchObject({ allowAggregate: true, defaultAggregation: 'AVG' });
    expect(withAggregate('')).toEqual({ allowAggregate: false, defaultAggregation: null });
  });

  test('is shown as it is stored, also where it does not fit, and not where it is not allowed', () => {
    expect(aggregateOf(column('total', { allowAggregate: true, defaultAggregation: 'median' }))).toBe('MEDIAN');
    expect(aggregateOf(column('total', { defaultAggregation: 'SUM' }))).toBe('');
    const odd = { datatype: 'VARCHAR', allowAggregate: true, defaultAggregation: 'SUM' };
    expect(aggregateChoices(column('name', odd)).at(-1)).toEqual(['SUM', 'SUM, which does not fit']);
  });
});

describe('a change of words', () => {
  test('names only what differs', () => {
    expect(notesChange(none, plain)).toBeUndefined();
    const after = described(
      total({ description: ' With tax ', synonyms: 'amount, amount, , price' }),
      (notes) => withTableNotes(notes, 'main.orders', { description: 'One row for each order' }),
      (notes) => withFeedback(notes, 'A year begins in July.'),
    );
    expect(notesChange(none, after)).toEqual({
      tables: [
        {
          name: 'main.orders',
          description: 'One row for each order',
          columns: [{ name: 'total', description: 'With tax', synonyms: ['amount', 'price'] }],
        },
      ],
      feedback: 'A year begins in July.',
    });
    expect(notesChange(after.notes, after)).toBeUndefined();
  });

  test('clears what was emptied', () => {
    const { notes } = described(total({ description: 'With tax', columnType: 'Number' }));
    const after = {
      model: shop,
      notes: withColumnNotes(notes, 'main.orders', 'total', { description: '', columnType: '' }),
    };
    expect(notesChange(notes, after)).toEqual({
      tables: [{ name: 'main.orders', columns: [{ name: 'total', description: null, columnType: null }] }],
    });
  });

  test('has the words of a new calculated column, and none of one that was removed again', () => {
    const made = withCalculated(shop, 'main.orders', { name: 'net', sql: 'total / 1.2' });
    const notes = withColumnNotes(none, 'main.orders', 'net', { description: 'Without tax' });
    expect(notesChange(none, { model: made, notes })).toEqual({
      tables: [{ name: 'main.orders', columns: [{ name: 'net', description: 'Without tax' }] }],
    });
    expect(notesChange(none, { model: withoutColumn(made, 'main.orders', 'net'), notes })).toBeUndefined();
  });

  test('is a fault where one word means two things, or there are too many', () => {
    const twice = described(total({ synonyms: 'Amount' }), (notes) =>
      withTableNotes(notes, 'main.orders', { synonyms: 'amount' }),
    );
    expect(wordsFault(twice, 'main.orders')).toContain('“Amount”');
    expect(wordsFault(twice, 'main.clients')).toBeNull();
    const many = described(total({ synonyms: Array.from({ length: 11 }, (_, at) => `w${at}`).join(',') }));
    expect(wordsFault(many, 'main.orders')).toContain('more than 10');
    const empty = described(total({ synonyms: ' , ' }));
    expect(empty.notes.tables[0]?.columns[0]?.synonyms).toEqual([]);
  });

  test('offers the types that fit the column', () => {
    expect(typesFor(column('total'))).toEqual(['Number', 'ENUM', 'Range', 'Identifier']);
    expect(typesFor(column('any', { isCustomColumn: true, datatype: '' }))).toContain('JSON');
  });
});

describe('a search', () => {
  const words = described(total({ synonyms: 'Revenue' }), (notes) =>
    withTableNotes(notes, 'main.orders', { description: 'Purchases' }),
  );
  const found = (text: string) => [...(findColumns(words, text) ?? [])].map(([key, names]) => [key, [...names]]);

  test('finds columns by names and words, theirs and their table’s', () => {
    expect(findColumns(words, '  ')).toBeNull();
    expect(found('revenue')).toEqual([['main.orders', ['total']]]);
    expect(found('purchases')).toEqual([['main.orders', ['id', 'client', 'total']]]);
    expect(found('ID')).toEqual([
      ['main.clients', ['id']],
      ['main.orders', ['id']],
    ]);
    expect(found('orders id')).toEqual([['main.orders', ['id']]]);
    expect(found('nothing')).toEqual([]);
  });
});

describe('the score', () => {
  const keys = new Map([['main.orders', [['id']]]]);
  const scoreOf = (of: Described) => describeScore(of, tenancyOf(of.model, keys), keys);

  test('is the service’s own, and lists what adds most first, each at its place', () => {
    const { points, todos, parts } = scoreOf(plain);
    expect(points).toBe(0);
    expect(parts.map(({ filled, all }) => [filled, all])).toEqual([
      [0, 2],
      [0, 5],
      [0, 5],
      [0, 5],
      [0, 2],
      [0, 1],
    ]);
    expect(todos[0]).toEqual({
      place: { table: 'main.clients', field: 'description' },
      text: 'Describe the table main.clients',
      points: 10,
    });
    for (const { place } of todos) expect(placeIn(new URLSearchParams(placeQuery(place)))).toEqual(place);
    expect(todos.reduce((sum, todo) => sum + todo.points, 0)).toBeCloseTo(100);
    const done = described(total({ description: 'With tax', synonyms: 'amount', columnType: 'Number' }));
    expect(scoreOf(done).points).toBe(completionScore(semanticTables(done), null));
    expect(scoreOf(done).todos.some(({ place }) => place.column === 'total')).toBe(false);
  });

  test('leaves out what is hidden, and proposes to hide keys and client ids', () => {
    const { todos } = scoreOf(plain);
    const toHide = todos.filter(({ place }) => place.field === 'shown').map(({ place }) => place.column);
    expect(toHide).toEqual(['id', 'client']);
    const hidden = { ...plain, model: withColumn(shop, 'main.orders', 'id', { isHide: true }) };
    expect(scoreOf(hidden).todos.some(({ place }) => place.table === 'main.orders' && place.column === 'id')).toBe(
      false,
    );
    const closed = { ...plain, model: withStoredTable(shop, 'main.orders', { isHide: true }) };
    expect(scoreOf(closed).parts[0]).toMatchObject({ filled: 0, all: 1 });
  });

  test('begins with tables that nobody owns, hidden ones too', () => {
    const lost = withStoredTable(shop, 'main.orders', { clientColumn: null, isHide: true });
    expect(scoreOf({ ...plain, model: lost }).todos[0]).toMatchObject({
      place: { table: 'main.orders', field: 'owner' },
    });
  });

  test('shows no place for an address that names none', () => {
    expect(placeIn(new URLSearchParams('table=main.orders'))).toBeNull();
    expect(placeIn(new URLSearchParams('table=main.orders&field=__proto__'))).toBeNull();
  });
});

describe('how numbers are written', () => {
  test('is one choice with a detail, and short or not', () => {
    const money = withDetail(withNumberKind(withShortNumbers({}, true), 'money'), ' usd ');
    expect(money).toEqual({ currency: 'USD', notation: 'compact' });
    expect([numberKindOf(money), detailOf(money)]).toEqual(['money', 'USD']);
    expect(withNumberKind(money, 'percent')).toEqual({ format: 'percent', notation: 'compact' });
    expect(withShortNumbers(withNumberKind(money, 'plain') ?? {}, false)).toBeNull();
    expect(numberKindOf(null)).toBe('plain');
    expect(() => withDetail(money, 'euro')).toThrow('three letters');
    const scaled = { ...money, scale: 2 };
    for (const [text, currency] of [
      ['column.currency', { column: 'currency' }],
      ['tenant.currency', { tenantColumn: 'currency' }],
    ] as const) {
      expect(withDetail(scaled, text)).toEqual({ notation: 'compact', scale: 2, currency });
      expect(detailOf({ currency })).toBe(text);
    }
    expect(withScale(money, '2')).toEqual({ ...money, scale: 2 });
    expect(withScale({ scale: 2 }, '0')).toBe(null);
    expect(() => withScale(money, '1.5')).toThrow('decimal places');
    expect(() => withDetail({ unit: 'km' }, ' ')).toThrow('unit');
  });
});

describe('how dates are written', () => {
  test('is a style with an example, and a precision', () => {
    const short = withDateStyle(null, 'short');
    expect(short).toEqual({ style: 'short' });
    expect(withDatePrecision(short, 'day')).toEqual({ style: 'short', precision: 'day' });
    expect(withDateStyle(withDatePrecision(short, 'day'), '')).toEqual({ precision: 'day' });
    expect(withDateStyle(short, '')).toBeNull();
    expect(withDatePrecision(undefined, 'century')).toBeNull();
    expect(styleChoices('de', undefined).map(([, text]) => text)).toEqual([
      'Usual: 13. Feb. 2026',
      'Short: 13.02.2026',
      'Medium: 13. Feb. 2026',
      'Long: 13. Februar 2026',
      'Full: Freitag, 13. Februar 2026',
    ]);
    expect(styleChoices('en', 'month')[0]?.[1]).toBe('Usual: February 2026');
    expect(precisionChoices).toHaveLength(6);
  });
});

describe('saving', () => {
  type Call = readonly [operation: string, input: unknown];
  type Refused = readonly [failure?: Error | string, operation?: string];
  /** A service. `refuse` is thrown by its next write, or by the next one of this operation. */
  const fake = (lastUpdated: string | null, ...refuse: Refused) => {
    const calls: Call[] = [];
    const state: { words: Notes; refuse: Refused } = {
      ...{ words: { ...none, lastUpdated }, refuse },
    };
    const call = async (operation: string, input: unknown) => {
      if (operation === 'getSemanticLayer') return { data: state.words };
      calls.push([operation, input]);
      const [failure, at = operation] = state.refuse;
      if (failure === undefined || at !== operation) return { updatedAt: 'v2', warnings: [{ message: 'Red.' }] };
      throw typeof failure === 'string' ? new StudioError(failure, 'No.', 409) : failure;
    };
    return { api: { call } as unknown as Api, calls, state };
  };
  const shopV1 = { ...shop, updatedAt: 'v1' };
  const relabelled = withColumn(shopV1, 'main.orders', 'total', { label: 'Total' });
  const read = asRead({ model: shopV1, notes: { ...none, lastUpdated: 'w1' } });
  const both: Described = { model: relabelled, notes: withFeedback(read.notes, 'Yes.') };
  const tablesPut = ['updateDatamart', { datamartName: 'shop', expectedUpdatedAt: 'v1' }];
  const wordsPut = ['updateSemanticLayer', { datamartName: 'shop', expectedLastUpdated: 'w1', feedback: 'Yes.' }];

  /** Saves, and returns what was saved when the words failed. */
  const failed = async (api: Api, before: Saved, after: Described): Promise<PartlySaved> => {
    const error = await saveModel(api, before, after).catch((thrown: unknown) => thrown);
    if (!(error instanceof PartlySaved)) throw new Error('the save did not fail half-way', { cause: error });
    return error;
  };

  test('writes the model and its words, each over the version that was read', async () => {
    const { api, calls } = fake('w1');
    expect(await saveModel(api, read, both)).toEqual(['Red.']);
    expect(calls).toMatchObject([tablesPut, wordsPut]);
  });

  test('leaves alone the part that did not change, and creates words that there were none of', async () => {
    const { api, calls } = fake(null);
    await saveModel(api, asRead(plain), { model: shop, notes: withFeedback(none, 'Yes.') });
    expect(calls).toEqual([['createSemanticLayer', { datamartName: 'shop', feedback: 'Yes.' }]]);
    calls.length = 0;
    await saveModel(api, asRead(plain), { model: relabelled, notes: none });
    expect(calls.map(([operation]) => operation)).toEqual(['updateDatamart']);
  });

  test('writes nothing if the words are not those that were read', async () => {
    const { api, calls } = fake('w2');
    const after = { model: relabelled, notes: withFeedback(none, 'Yes.') };
    await expect(saveModel(api, asRead(plain), after)).rejects.toThrow(/^Somebody changed this model/);
    expect(calls).toEqual([]);
  });

  test('says that somebody was faster', async () => {
    const { api } = fake(null, 'DATAMART_CHANGED');
    const after = { model: relabelled, notes: none };
    await expect(saveModel(api, asRead(plain), after)).rejects.toThrow(/^Somebody changed this model/);
    const { api: other } = fake(null, 'INVALID_REQUEST_BODY');
    await expect(saveModel(other, asRead(plain), after)).rejects.toThrow(/^No\.$/);
  });

  test('says that the tables are saved and the words are not, and then sends only the words', async () => {
    const { api, calls, state } = fake('w1', 'DUPLICATE_SYNONYM', 'updateSemanticLayer');
    const { message, saved } = await failed(api, read, both);
    expect(message).toBe(
      'Tables, columns and relationships are saved. Descriptions, synonyms, types and notes are not saved yet: No. Saving again sends only these.',
    );
    state.refuse = [];
    calls.length = 0;
    // What the service warned of at the first attempt is said when all is saved.
    expect(await saveModel(api, saved, both)).toEqual(['Red.']);
    expect(calls).toMatchObject([wordsPut]);
  });

  test('sends a further change of the tables over the version that it saved, also the way back', async () => {
    const { api, calls, state } = fake('w1', new StudioError('NETWORK_ERROR', 'Away.', 0), 'updateSemanticLayer');
    const { saved } = await failed(api, read, both);
    state.refuse = [];
    for (const model of [withoutColumn(relabelled, 'main.orders', 'id'), shopV1]) {
      calls.length = 0;
      await saveModel(api, saved, { ...both, model });
      expect(calls).toMatchObject([['updateDatamart', { expectedUpdatedAt: 'v2' }], wordsPut]);
    }
  });

  test('says that the words fail again, and that somebody else wrote them meanwhile', async () => {
    const { api, state, calls } = fake('w1', 'SEMANTIC_LAYER_CHANGED', 'updateSemanticLayer');
    const { message, saved } = await failed(api, read, both);
    expect(message).toMatch(/are saved\. .* are not saved yet: Somebody changed them meanwhile/);
    expect(message).not.toContain('Saving again');
    state.words = { ...withFeedback(none, 'No.'), lastUpdated: 'w2' };
    calls.length = 0;
    const again = await failed(api, saved, both);
    expect([again.message, again.saved]).toEqual([message, saved]);
    expect(calls).toEqual([]);
  });

  test('has nothing to send if the words were written and only the answer was lost', async () => {
    const { api, state, calls } = fake('w1', new StudioError('NETWORK_ERROR', 'Away.', 0), 'updateSemanticLayer');
    const { saved } = await failed(api, read, both);
    state.words = { ...both.notes, lastUpdated: 'w2' };
    calls.length = 0;
    expect(await saveModel(api, saved, both)).toEqual(['Red.']);
    expect(calls).toEqual([]);
  });
});
