/** 11. Semantic layer of a datamart: always of a datamart that the run created. */
import {
  bearerOf,
  type Check,
  checksOf,
  guards,
  ours,
  refuses,
  requires,
  sendTo,
  type Target,
  withValue,
} from '../kit/check.js';
import type { CheckContext } from '../kit/context.js';
import {
  anyRefusal,
  boolean,
  exactly,
  expectOk,
  expectRefusal,
  expectThat,
  fields,
  listOf,
  NotTried,
  number,
  orNull,
  text,
  timestamp,
} from '../kit/expect.js';
import type { OperationId } from '../kit/operations.js';
import type { Answer, Json, Method } from '../kit/wire.js';
import { isJson } from '../kit/wire.js';

const path = '/api/v2/data-app/datamarts/semantic-layer';

/** The answer of a read. */
const layer = fields({
  data: fields({
    datamartName: text,
    tables: listOf(
      fields({
        name: text,
        schemaName: text,
        description: orNull(text),
        synonyms: listOf(text),
        columns: listOf(
          fields({
            name: text,
            datatype: text,
            description: orNull(text),
            synonyms: listOf(text),
            columnType: orNull(text),
            isIdentifier: boolean,
            isNotIndexed: boolean,
          }),
        ),
      }),
    ),
    feedback: orNull(text),
    completionScore: number,
    lastUpdated: orNull(timestamp),
  }),
});

const targetOf = (operation: OperationId, method: Method, place: Target['in'], input: Target['input']): Target => ({
  operation,
  method,
  path,
  credential: 'serviceToken',
  in: place,
  input,
});

const withFeedback = async (context: CheckContext): Promise<Json> => ({
  datamartName: await context.datamart(),
  feedback: 'Words.',
});
const named = async (context: CheckContext): Promise<Json> => ({ datamartName: await context.datamart() });

const create = targetOf('create-semantic-layer', 'POST', 'body', withFeedback);
const update = targetOf('update-semantic-layer', 'PUT', 'body', withFeedback);
const read = targetOf('read-semantic-layer', 'GET', 'query', named);
const remove = targetOf('delete-semantic-layer', 'DELETE', 'query', named);

/** Deletes an existing semantic layer. */
const clear = async (context: CheckContext): Promise<Answer> => sendTo(context, remove, await named(context));

const writes = async (context: CheckContext, target: Target, parts: Json): Promise<Answer> =>
  sendTo(context, target, { ...(await named(context)), ...parts });

const isId = async (context: CheckContext) => fields({ id: exactly(await context.datamart()) });

/** Replaces the semantic layer by one with these parts only. */
const set = async (context: CheckContext, parts: Json): Promise<void> => {
  await clear(context);
  expectOk(await writes(context, create, parts), await isId(context));
};

const get = async (context: CheckContext): Promise<Json> => {
  const { data } = expectOk(await sendTo(context, read, await named(context)), layer);
  return isJson(data) ? data : {};
};

const arrayOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

type Place = { readonly tableName: string; readonly columnName: string };

/** A column whose datatype matches the pattern, found by reading the semantic layer. */
const findColumn = async (context: CheckContext, datatype: RegExp): Promise<Place> => {
  for (const table of arrayOf((await get(context)).tables)) {
    const column = arrayOf(table.columns).find((item) => datatype.test(String(item.datatype)));
    if (column !== undefined) return { tableName: String(table.name), columnName: String(column.name) };
  }
  throw new NotTried(`needs a column with a datatype like ${datatype.source}`);
};

const anyColumn = /./;
const textual = /char|text|string/i;

const onColumn = ({ tableName, columnName }: Place, parts: Json): Json => ({
  tables: [{ name: tableName, columns: [{ name: columnName, ...parts }] }],
});

const reading = checksOf('read-semantic-layer');
const creating = checksOf('create-semantic-layer');
const updating = checksOf('update-semantic-layer');
const removing = checksOf('delete-semantic-layer');

const existence: readonly Check[] = [
  creating('no semantic layer exists: created; response id is the datamart name', async (context) => {
    await set(context, { feedback: 'Words.' });
  }),
  creating('semantic layer exists: fails with SEMANTIC_LAYER_ALREADY_EXISTS', async (context) => {
    await set(context, { feedback: 'Words.' });
    expectRefusal(await writes(context, create, { feedback: 'x' }), anyRefusal, 'SEMANTIC_LAYER_ALREADY_EXISTS');
    expectThat((await get(context)).feedback === 'Words.', 'the refused creation changed it');
  }),
  updating('semantic layer exists: updated', async (context) => {
    await set(context, { feedback: 'Words.' });
    expectOk(await writes(context, update, { feedback: 'Other words.' }), await isId(context));
    expectThat((await get(context)).feedback === 'Other words.', 'the reading does not show it');
  }),
  updating('no semantic layer exists: fails with SEMANTIC_LAYER_NOT_FOUND', async (context) => {
    await clear(context);
    expectRefusal(await writes(context, update, { feedback: 'x' }), anyRefusal, 'SEMANTIC_LAYER_NOT_FOUND');
  }),
  removing('semantic layer exists: removed with everything in it', async (context) => {
    const place = await findColumn(context, anyColumn);
    await set(context, { ...onColumn(place, { description: 'Words.', synonyms: ['word'] }), feedback: 'Words.' });
    expectOk(await clear(context), await isId(context));
    const { feedback, completionScore, tables } = await get(context);
    expectThat(feedback === null && completionScore === 0, `feedback ${feedback}, completionScore ${completionScore}`);
    expectThat(!JSON.stringify(tables).includes('Words.'), 'a description is still there');
  }),
  removing('no semantic layer exists: fails with SEMANTIC_LAYER_NOT_FOUND', async (context) => {
    await clear(context);
    expectRefusal(await clear(context), anyRefusal, 'SEMANTIC_LAYER_NOT_FOUND');
  }),
];

const reads: readonly Check[] = [
  reading('a datamart without semantic content: nulls, empty synonyms, completionScore 0', async (context) => {
    await clear(context);
    const { tables, feedback, completionScore, lastUpdated } = await get(context);
    expectThat(feedback === null, `feedback is ${JSON.stringify(feedback)}`);
    expectThat(completionScore === 0, `completionScore is ${completionScore}`);
    expectThat(lastUpdated === null, `lastUpdated is ${JSON.stringify(lastUpdated)}`);
    const all = arrayOf(tables).flatMap((table) => [table, ...arrayOf(table.columns)]);
    expectThat(
      all.every((item) => item.description === null),
      'a description is not null',
    );
    expectThat(
      all.every(({ synonyms }) => Array.isArray(synonyms) && synonyms.length === 0),
      'synonyms are not empty',
    );
  }),
  reading('what was created is read', async (context) => {
    const place = await findColumn(context, anyColumn);
    const { tableName, columnName } = place;
    const columns = [{ name: columnName, description: 'A column.', synonyms: ['pillar'], isIdentifier: true }];
    const tables = [{ name: tableName, description: 'A table.', synonyms: ['desk'], columns }];
    await set(context, { tables, feedback: 'Words.' });
    const found = await get(context);
    const table = arrayOf(found.tables).find(({ name }) => name === tableName);
    const column = arrayOf(table?.columns).find(({ name }) => name === columnName);
    expectThat(table?.description === 'A table.', `the table reads ${JSON.stringify(table?.description)}`);
    expectThat(JSON.stringify(table?.synonyms) === '["desk"]', `its synonyms are ${JSON.stringify(table?.synonyms)}`);
    expectThat(column?.description === 'A column.', `the column reads ${JSON.stringify(column?.description)}`);
    expectThat(column?.isIdentifier === true, 'isIdentifier is not true');
    expectThat(found.lastUpdated !== null, 'lastUpdated is null');
    expectThat(Number(found.completionScore) > 0, `completionScore is ${found.completionScore}`);
  }),
  ...requires(read, ['datamartName']).map((item) => ({
    ...item,
    sentence: 'datamartName is required on read',
    run: async (context: CheckContext) =>
      expectRefusal(await sendTo(context, read, {}), anyRefusal, ['INVALID_DATAMART', 'INVALID_REQUEST_BODY']),
  })),
];

const content = (target: Target): readonly Check[] => {
  const check = checksOf(target.operation);
  /** Brings the datamart into the state in which the operation checks the content. */
  const prepare = async (context: CheckContext) =>
    target === create ? clear(context).then(() => undefined) : set(context, { feedback: 'Words.' });
  const fails = (sentence: string, code: string, parts: (context: CheckContext) => Promise<Json>): Check =>
    check(`${code}: ${sentence}`, async (context) => {
      const given = await parts(context);
      await prepare(context);
      expectRefusal(await writes(context, target, given), anyRefusal, code);
    });
  return [
    fails('table not in the datamart', 'INVALID_TABLE', async () => ({ tables: [{ name: 'no_such_table' }] })),
    fails('column not in the table', 'INVALID_COLUMN', async (context) =>
      onColumn({ ...(await findColumn(context, anyColumn)), columnName: 'no_such_column' }, {}),
    ),
    fails('column type incompatible with the datatype', 'INVALID_COLUMN_TYPE', async (context) =>
      onColumn(await findColumn(context, textual), { columnType: 'Number' }),
    ),
    fails('duplicate synonyms for a table', 'DUPLICATE_SYNONYM', async (context) => ({
      tables: [{ name: (await findColumn(context, anyColumn)).tableName, synonyms: ['word', 'word'] }],
    })),
    check('at least one of tables and feedback must be present, else INVALID_REQUEST_BODY', async (context) => {
      expectRefusal(await writes(context, target, {}), 400, 'INVALID_REQUEST_BODY');
    }),
    ...requires(target, ['datamartName']),
    ...refuses(target, [
      ['feedback', 1],
      ['tables', {}],
      ['tables', [{ description: 'no name' }]],
      ['noSuchField', 1],
    ]),
  ];
};

const common = (target: Target): readonly Check[] => {
  const check = checksOf(target.operation);
  return [
    check('a data app API key fails with AUTHENTICATION_ERROR', async (context) => {
      const answer = await sendTo(context, target, await target.input(context), await bearerOf(context, 'apiKey'));
      expectRefusal(answer, anyRefusal, 'AUTHENTICATION_ERROR');
    }),
    ours(
      check('and that with 403', async (context) => {
        const answer = await sendTo(context, target, await target.input(context), await bearerOf(context, 'apiKey'));
        expectRefusal(answer, 403, 'AUTHENTICATION_ERROR');
      }),
    ),
    check('INVALID_DATAMART: unknown datamart', async (context) => {
      const input = withValue(await target.input(context), 'datamartName', context.name('nothing'));
      expectRefusal(await sendTo(context, target, input), anyRefusal, 'INVALID_DATAMART');
    }),
    ...guards(target, { statuses: anyRefusal, codes: 'AUTHENTICATION_ERROR' }),
  ];
};

export const semanticLayerChecks: readonly Check[] = [
  ...existence,
  ...reads,
  ...content(create),
  ...content(update),
  ...[create, update, read, remove].flatMap(common),
];
