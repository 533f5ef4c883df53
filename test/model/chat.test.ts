/** The pure parts of questions in words: which model, which catalogue, which numbers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { catalogueText, openFeedback } from '../../src/model/chat/catalogue.js';
import { labelsOf } from '../../src/model/chat/chat.js';
import { type Model, modelsOf } from '../../src/model/chat/model.js';
import { hasOnlyKnownNumbers } from '../../src/model/chat/numbers.js';
import { knownNumbers, ranResult } from '../../src/model/chat/tool-results.js';
import { guestFields } from '../../src/model/guest/fields.js';
import { datamart, table } from '../engine/world.js';

const model = (name: string): Model => ({
  ...{ name, allowsRows: false },
  complete: () => Promise.reject(new Error('not asked')),
});
const [small, large] = [model('small'), model('large')];

describe('the models of a workspace', () => {
  test.each([
    [[], {}, []],
    [[small], {}, ['small']],
    [[small, large], {}, []],
    [[small, large], { llmName: 'large' }, ['large']],
    [[small, large], { llmName: 'large', aiCopilotLlms: ['small', 'large', 'gone'] }, ['large', 'small']],
    [[small], { llmName: 'gone' }, []],
    [[small, large], { aiCopilotLlms: ['small'] }, ['small']],
  ])('a workspace offers the models that it allows, its own choice first: %#', (configured, choice, expected) => {
    expect(modelsOf(configured, choice).map(({ name }) => name)).toEqual(expected);
  });
});

const manyColumns = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`a_long_column_name_${at}`, 'BIGINT']));
const martOf = (tables: number) =>
  datamart({
    tables: Array.from({ length: tables }, (_, at) => table(`table_${at}`, manyColumns)),
    relationships: [],
    tenancy: null,
  });
const fieldsOf = (mart: ReturnType<typeof martOf>) =>
  guestFields({ datamart: mart, isReadable: () => true, joinModel: 'multi', conditions: [] }, undefined);

describe('the catalogue', () => {
  test('a large one is read table by table, and stays within its size', () => {
    const fields = fieldsOf(martOf(40));
    const all = catalogueText({ fields, feedback: null }, []);
    expect(JSON.parse(all).tables[0]).toEqual({ schemaName: 'main', tableName: 'table_0', joinGroup: 0 });
    const some = JSON.parse(catalogueText({ fields, feedback: 'In euros.' }, ['table_3', 'none']));
    expect(some).toMatchObject({ notes: 'In euros.', tables: [{ tableName: 'table_3' }] });
    expect(some.tables[0].columns).toHaveLength(60);
    const names = fields.tables.map(({ tableName }) => tableName);
    expect(catalogueText({ fields, feedback: null }, names).length).toBeLessThanOrEqual(24_000);
  });

  test('notes lose the lines that name what is hidden, in any writing', () => {
    const mart = martOf(1);
    const [first] = mart.tables;
    if (first === undefined) throw new Error('it has a table');
    const hidden = { ...table('salary_list', { salary_of: 'BIGINT' }), isHide: true };
    const whole = { ...mart, tables: [first, hidden] };
    const notes = 'Fine.\nSee SALARY LIST.\nThe salary_of people.\nAbout table_0.';
    expect(openFeedback(whole, fieldsOf(whole), { feedback: notes })).toBe('Fine.\nAbout table_0.');
    expect(openFeedback(whole, fieldsOf(whole), { feedback: 'salary-list' })).toBeNull();
    expect(openFeedback(whole, fieldsOf(whole), undefined)).toBeNull();
  });
});

test('a definition is labelled with the names of those of its columns that the guest may use', () => {
  const mart = martOf(2);
  const [first] = mart.tables;
  if (first === undefined) throw new Error('it has a table');
  const columns = first.columns.map((column) => ({ ...column, label: `Label of ${column.columnName}` }));
  const fields = fieldsOf({ ...mart, tables: [{ ...first, columns }] });
  const at = (tableName: string, columnName: string) => ({ schemaName: 'main', tableName, columnName });
  const definition = {
    from: { schemaName: 'main', tableName: 'table_0' },
    dimensions: [{ name: 'A', column: at('table_0', 'a_long_column_name_1') }],
    where: {
      any: [{ column: at('table_0', 'a_long_column_name_1') }, { column: at('table_1', 'a_long_column_name_2') }],
    },
  };
  expect(labelsOf(definition, fields)).toEqual([
    { ...at('table_0', 'a_long_column_name_1'), label: 'Label of a_long_column_name_1' },
  ]);
  expect(labelsOf(undefined, fields)).toEqual([]);
});

describe('numbers in a text', () => {
  const known = [1234.56, 0.125, -7, 2001];
  test.each([
    ['No number.', true],
    ['1,234.56 flights', true],
    ['1.234,56 Flüge', true],
    ['1\u202f234,56 vols', true],
    ['1,235 flights', true],
    ['about 1234.6', true],
    ['12.5 % of them', true],
    ['13 %', true],
    ['7 fewer', true],
    ['−7', true],
    ['in 2001.', true],
    ['١٬٢٣٤٫٥٦', true],
    ['١٢٣٤.٥٦', true],
    ['1234.5', false],
    ['1236', false],
    ['5k flights', false],
    ['12 months', false],
    ['v2', false],
  ])('numbers in a text are known to its facts, or the text is refused: %s', (text, expected) => {
    expect(hasOnlyKnownNumbers(text, known)).toBe(expected);
  });

  test('a number that nothing has is found, wherever it stands', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10_000, max: 99_999 }), fc.string(), (number, around) => {
        const text = `${around.replace(/\p{N}/gu, '')} ${number} ${around.replace(/\p{N}/gu, '')}`;
        expect(hasOnlyKnownNumbers(text, [1, 2, 3])).toBe(false);
        expect(hasOnlyKnownNumbers(text, [number])).toBe(true);
      }),
    );
  });
});

test('a model reads the values of a measure as the card writes them, and may say them', () => {
  const rows = [{ State: 'CA', Revenue: 1234567.5, Share: 0.215, Orders: 7 }];
  const measures = ['Revenue', 'Share', 'Orders'].map((name) => ({ name }));
  const numbers = [
    { measure: 'Revenue', currency: 'EUR', notation: 'compact' },
    { measure: 'Share', format: 'percent' },
  ] as const;
  const ran = (language?: string) =>
    ranResult({ rows, totalRecords: 1 }, { chart: { numbers }, measures }, { allowsRows: true, language });
  const { text, read } = ran();
  expect(JSON.parse(text)).toMatchObject({ rows, written: [{ Revenue: '€1.2M', Share: '21.5%' }] });
  expect(hasOnlyKnownNumbers('California earned €1.2M, 21.5% of all, with 7 orders.', knownNumbers(read))).toBe(true);
  expect(hasOnlyKnownNumbers('California earned €1.3M.', knownNumbers(read))).toBe(false);
  expect(JSON.parse(ran('de').text).written).toEqual([{ Revenue: '1,2\u00a0Mio.\u00a0€', Share: '21,5\u00a0%' }]);
  expect(JSON.parse(ran('x').text).written).toEqual(JSON.parse(text).written);
});

test('a model without leave reads no row, and measures without a format are not written twice', () => {
  const answer = { rows: [{ Revenue: 5 }], totalRecords: 1 };
  const measures = [{ name: 'Revenue' }];
  const closed = ranResult(answer, { chart: { currency: 'EUR' }, measures }, { allowsRows: false });
  expect([closed.text.includes('5'), closed.read]).toEqual([false, []]);
  expect(JSON.parse(ranResult(answer, { chart: {}, measures }, { allowsRows: true }).text).written).toBeUndefined();
});
