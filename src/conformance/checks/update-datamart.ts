/** 9. Update datamart: always of a datamart that the run created. */
import { tablesOf } from '../kit/bodies.js';
import { type Check, checksOf, guards, refuses, requires, sendTo, type Target } from '../kit/check.js';
import type { CheckContext } from '../kit/context.js';
import { anyRefusal, exactly, expectOk, expectRefusal, expectThat, fields, NotTried, rowsOf } from '../kit/expect.js';
import { isJson, type Json } from '../kit/wire.js';

const path = '/api/v2/data-app/datamarts';

const target: Target = {
  operation: 'update-datamart',
  method: 'PUT',
  path,
  credential: 'serviceToken',
  in: 'body',
  input: async (context) => ({ datamartName: await context.datamart() }),
};
const check = checksOf(target.operation);

const update = async (context: CheckContext, parts: Json, at: string = path): Promise<void> => {
  const datamartName = await context.datamart();
  const answer = await sendTo(context, { ...target, path: at }, { datamartName, ...parts });
  expectOk(answer, fields({ id: exactly(datamartName) }));
};

const read = async (context: CheckContext): Promise<Json> => {
  const name = await context.datamart();
  const answer = await context.send({ method: 'GET', path, bearer: context.serviceToken });
  const found = rowsOf(expectOk(answer, fields({}))).find((row) => row.name === name);
  if (found === undefined) throw new NotTried(`datamart ${name} is not listed`);
  return found;
};

const arrayOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

const first = async (
  context: CheckContext,
): Promise<{ readonly table: Json; readonly column: Json; readonly tables: readonly Json[] }> => {
  const tables = tablesOf(await context.source());
  const [table] = tables;
  const [column] = arrayOf(table?.columns);
  if (table === undefined || column === undefined) throw new NotTried('needs a datamart with a table and a column');
  return { table, column, tables };
};

/** The first table with these parts, and its first column with those. */
const changed = async (context: CheckContext, tableParts: Json, columnParts: Json = {}): Promise<Json> => {
  const { table, column } = await first(context);
  return { ...table, columns: [{ ...column, ...columnParts }, ...arrayOf(table.columns).slice(1)], ...tableParts };
};

const listedTables = async (context: CheckContext): Promise<readonly Json[]> =>
  arrayOf((await read(context)).datamartTables);

const columnNamed = (tables: readonly Json[], tableName: unknown, columnName: unknown): Json | undefined =>
  arrayOf(tables.find((table) => table.tableName === tableName)?.datamartTableColumns).find(
    (column) => column.columnName === columnName,
  );

/** Checks that the listing shows `wanted` after an update of the first column by `parts`. */
const shows = (sentence: string, parts: Json, wanted: Json): Check =>
  check(sentence, async (context) => {
    const { table, column } = await first(context);
    await update(context, { tableList: [await changed(context, {}, parts)] });
    const listed = columnNamed(await listedTables(context), table.name, column.name);
    for (const [name, value] of Object.entries(wanted)) {
      expectThat(listed?.[name] === value, `the column is listed with ${name} ${JSON.stringify(listed?.[name])}`);
    }
  });

const replaces: readonly Check[] = [
  check('Response 200: {id: datamart name}', async (context) => {
    await update(context, { relationships: [] });
  }),
  check('the legacy path works', async (context) => {
    await update(context, { relationships: [] }, '/api/v2/dataApp/datamarts');
  }),
  check('tableList replaces all existing tables and columns', async (context) => {
    const { table, column, tables } = await first(context);
    await update(context, { tableList: tables });
    await update(context, { tableList: [{ ...table, columns: [column] }] });
    const listed = await listedTables(context);
    expectThat(listed.length === 1, `${listed.length} tables are listed`);
    const columns = arrayOf(listed[0]?.datamartTableColumns);
    expectThat(columns.length === 1, `${columns.length} columns are listed`);
  }),
  check('when tableList is omitted only other parts change', async (context) => {
    const { tables } = await first(context);
    await update(context, { tableList: tables });
    await update(context, { relationships: [] });
    const listed = await listedTables(context);
    expectThat(listed.length === tables.length, `${listed.length} tables of ${tables.length} are listed`);
  }),
  check('relationships given replace all; when omitted they stay', async (context) => {
    const { table, column } = await first(context);
    const relationship = {
      parentTableName: table.name,
      parentColumnName: column.name,
      childTableName: table.name,
      childColumnName: column.name,
      relationshipName: context.name('rel'),
    };
    await update(context, { tableList: [table], relationships: [relationship] });
    await update(context, { tableList: [table] });
    const kept = arrayOf((await read(context)).datamartRelationships);
    expectThat(
      kept.length === 1 && kept[0]?.relationshipName === relationship.relationshipName,
      `${kept.length} are listed`,
    );
    await update(context, { relationships: [] });
    expectThat(arrayOf((await read(context)).datamartRelationships).length === 0, 'they are still listed');
  }),
  check('tenancySettings: omitted fields keep their values', async (context) => {
    const before = (await read(context)).datamartOrganization;
    if (!isJson(before) || before.tenancyLevel !== 'TABLE') throw new NotTried('needs a datamart with tenancy TABLE');
    await update(context, { tenancySettings: {} });
    const after = (await read(context)).datamartOrganization;
    expectThat(JSON.stringify(after) === JSON.stringify(before), `it became ${JSON.stringify(after)}`);
  }),
];

const columnParts: readonly Check[] = [
  shows(
    'a column may have an alias and a label',
    { alias: 'other', label: 'Other' },
    { alias: 'other', label: 'Other' },
  ),
  shows('isHide of a column', { isHide: true }, { isHide: true }),
  shows('isHide is false by default', {}, { isHide: false, isCustomColumn: false, sql: '', isApplyTimezone: false }),
  shows('isApplyTimezone of a column', { isApplyTimezone: true }, { isApplyTimezone: true }),
  shows('defaultSort may be DESC', { defaultSort: 'DESC' }, {}),
  shows('defaultSort may be an empty string', { defaultSort: '' }, {}),
  shows('defaultSort may be null', { defaultSort: null }, {}),
  shows('allowAggregate with a defaultAggregation', { allowAggregate: true, defaultAggregation: 'COUNT_DISTINCT' }, {}),
  check('label and isHide of a table', async (context) => {
    const { table } = await first(context);
    await update(context, { tableList: [await changed(context, { label: 'Words', isHide: true })] });
    const listed = (await listedTables(context)).find(({ tableName }) => tableName === table.name);
    expectThat(listed?.label === 'Words' && listed.isHide === true, `it is listed as ${JSON.stringify(listed?.label)}`);
  }),
];

const refusesTable = (sentence: string, tableParts: Json, parts: Json = {}): Check =>
  check(`${sentence}: 400 INVALID_REQUEST_BODY`, async (context) => {
    const input = { ...(await target.input(context)), tableList: [await changed(context, tableParts, parts)] };
    expectRefusal(await sendTo(context, target, input), 400, 'INVALID_REQUEST_BODY');
  });

const emptyRelationship = {
  parentTableName: 'a',
  parentColumnName: 'b',
  childTableName: 'c',
  childColumnName: 'd',
  relationshipName: 'e',
};

const tenancyFields = ['clientColumnType', 'schemaName', 'tableName', 'tableClientNameColumn', 'tablePrimaryKeyColumn'];
const tableTenancy: Json = {
  tenancyLevel: 'TABLE',
  clientColumnType: 'STRING',
  ...Object.fromEntries(tenancyFields.slice(1).map((name) => [name, 'x'])),
};

export const updateDatamartChecks: readonly Check[] = [
  ...replaces,
  ...columnParts,
  refusesTable('a table must exist in the datasource', { name: 'no_such_table' }),
  refusesTable('a column must exist', {}, { name: 'no_such_column' }),
  refusesTable('clientColumn must exist in the table', { clientColumn: 'no_such_column' }),
  refusesTable('columns are required', { columns: undefined }),
  refusesTable('columns are not empty', { columns: [] }),
  refusesTable('isCustomColumn true requires sql', {}, { name: 'made', isCustomColumn: true }),
  refusesTable('defaultSort in lowercase fails validation', {}, { defaultSort: 'asc' }),
  refusesTable('isHide is a boolean', { isHide: 'yes' }),
  refusesTable('the name of a table is required', { name: undefined }),
  refusesTable('the name of a column is required', {}, { name: undefined }),
  ...tenancyFields.map((name) =>
    check(`${name} is required when tenancyLevel is TABLE`, async (context) => {
      const { [name]: _, ...tenancySettings } = tableTenancy;
      const input = { ...(await target.input(context)), tenancySettings };
      expectRefusal(await sendTo(context, target, input), 400, 'INVALID_REQUEST_BODY');
    }),
  ),
  ...Object.keys(emptyRelationship).map((name) =>
    check(`${name} of a relationship is required`, async (context) => {
      const input = { ...(await target.input(context)), relationships: [{ ...emptyRelationship, [name]: undefined }] };
      expectRefusal(await sendTo(context, target, input), 400, 'INVALID_REQUEST_BODY');
    }),
  ),
  ...requires(target, ['datamartName']),
  ...refuses(target, [
    ['tableList', {}],
    ['relationships', 'none'],
    ['tenancySettings', { tenancyLevel: 'SCHEMA' }],
    ['tenancySettings', { tenancyLevel: 'DATABASE', clientColumnType: 'DATE' }],
    ['noSuchField', 1],
  ]),
  check('INVALID_DATAMART: unknown datamart', async (context) => {
    const input = { datamartName: context.name('nothing'), relationships: [] };
    expectRefusal(await sendTo(context, target, input), anyRefusal, 'INVALID_DATAMART');
  }),
  check('datamartName is case-sensitive', async (context) => {
    const input = { datamartName: (await context.datamart()).toUpperCase(), relationships: [] };
    expectRefusal(await sendTo(context, target, input), anyRefusal, 'INVALID_DATAMART');
  }),
  ...guards(target, { statuses: anyRefusal, codes: 'AUTHENTICATION_ERROR' }),
];
