/** 11. Semantic layer of a datamart: always of a datamart that the run made. */
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
import type { Stage } from '../kit/stage.js';
import type { Answer, Json, Method } from '../kit/wire.js';
import { isJson } from '../kit/wire.js';

const path = '/api/v2/data-app/datamarts/semantic-layer';

/** The semantic layer as it is read. */
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

const withFeedback = async (stage: Stage): Promise<Json> => ({
  datamartName: await stage.datamart(),
  feedback: 'Words.',
});
const named = async (stage: Stage): Promise<Json> => ({ datamartName: await stage.datamart() });

const create = targetOf('create-semantic-layer', 'POST', 'body', withFeedback);
const update = targetOf('update-semantic-layer', 'PUT', 'body', withFeedback);
const read = targetOf('read-semantic-layer', 'GET', 'query', named);
const remove = targetOf('delete-semantic-layer', 'DELETE', 'query', named);

/** Whatever was there before. */
const clear = async (stage: Stage): Promise<Answer> => sendTo(stage, remove, await named(stage));

const writes = async (stage: Stage, target: Target, parts: Json): Promise<Answer> =>
  sendTo(stage, target, { ...(await named(stage)), ...parts });

const isId = async (stage: Stage) => fields({ id: exactly(await stage.datamart()) });

/** A semantic layer that holds only this. */
const set = async (stage: Stage, parts: Json): Promise<void> => {
  await clear(stage);
  expectOk(await writes(stage, create, parts), await isId(stage));
};

const get = async (stage: Stage): Promise<Json> => {
  const { data } = expectOk(await sendTo(stage, read, await named(stage)), layer);
  return isJson(data) ? data : {};
};

const arrayOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

type Place = { readonly tableName: string; readonly columnName: string };

/** A column whose datatype fits the pattern, as the semantic layer's reading shows it. */
const findColumn = async (stage: Stage, datatype: RegExp): Promise<Place> => {
  for (const table of arrayOf((await get(stage)).tables)) {
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
  creating('no semantic layer exists: created; response id is the datamart name', async (stage) => {
    await set(stage, { feedback: 'Words.' });
  }),
  creating('semantic layer exists: fails with SEMANTIC_LAYER_ALREADY_EXISTS', async (stage) => {
    await set(stage, { feedback: 'Words.' });
    expectRefusal(await writes(stage, create, { feedback: 'x' }), anyRefusal, 'SEMANTIC_LAYER_ALREADY_EXISTS');
    expectThat((await get(stage)).feedback === 'Words.', 'the refused creation changed it');
  }),
  updating('semantic layer exists: updated', async (stage) => {
    await set(stage, { feedback: 'Words.' });
    expectOk(await writes(stage, update, { feedback: 'Other words.' }), await isId(stage));
    expectThat((await get(stage)).feedback === 'Other words.', 'the reading does not show it');
  }),
  updating('no semantic layer exists: fails with SEMANTIC_LAYER_NOT_FOUND', async (stage) => {
    await clear(stage);
    expectRefusal(await writes(stage, update, { feedback: 'x' }), anyRefusal, 'SEMANTIC_LAYER_NOT_FOUND');
  }),
  removing('semantic layer exists: removed with everything in it', async (stage) => {
    const place = await findColumn(stage, anyColumn);
    await set(stage, { ...onColumn(place, { description: 'Words.', synonyms: ['word'] }), feedback: 'Words.' });
    expectOk(await clear(stage), await isId(stage));
    const { feedback, completionScore, tables } = await get(stage);
    expectThat(feedback === null && completionScore === 0, `feedback ${feedback}, completionScore ${completionScore}`);
    expectThat(!JSON.stringify(tables).includes('Words.'), 'a description is still there');
  }),
  removing('no semantic layer exists: fails with SEMANTIC_LAYER_NOT_FOUND', async (stage) => {
    await clear(stage);
    expectRefusal(await clear(stage), anyRefusal, 'SEMANTIC_LAYER_NOT_FOUND');
  }),
];

const reads: readonly Check[] = [
  reading('a datamart without semantic content: nulls, empty synonyms, completionScore 0', async (stage) => {
    await clear(stage);
    const { tables, feedback, completionScore, lastUpdated } = await get(stage);
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
  reading('what was created is read', async (stage) => {
    const place = await findColumn(stage, anyColumn);
    const { tableName, columnName } = place;
    const columns = [{ name: columnName, description: 'A column.', synonyms: ['pillar'], isIdentifier: true }];
    const tables = [{ name: tableName, description: 'A table.', synonyms: ['desk'], columns }];
    await set(stage, { tables, feedback: 'Words.' });
    const found = await get(stage);
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
    run: async (stage: Stage) =>
      expectRefusal(await sendTo(stage, read, {}), anyRefusal, ['INVALID_DATAMART', 'INVALID_REQUEST_BODY']),
  })),
];

const content = (target: Target): readonly Check[] => {
  const check = checksOf(target.operation);
  /** The state in which the operation gets as far as the content. */
  const prepare = async (stage: Stage) =>
    target === create ? clear(stage).then(() => undefined) : set(stage, { feedback: 'Words.' });
  const fails = (sentence: string, code: string, parts: (stage: Stage) => Promise<Json>): Check =>
    check(`${code}: ${sentence}`, async (stage) => {
      const given = await parts(stage);
      await prepare(stage);
      expectRefusal(await writes(stage, target, given), anyRefusal, code);
    });
  return [
    fails('table not in the datamart', 'INVALID_TABLE', async () => ({ tables: [{ name: 'no_such_table' }] })),
    fails('column not in the table', 'INVALID_COLUMN', async (stage) =>
      onColumn({ ...(await findColumn(stage, anyColumn)), columnName: 'no_such_column' }, {}),
    ),
    fails('column type incompatible with the datatype', 'INVALID_COLUMN_TYPE', async (stage) =>
      onColumn(await findColumn(stage, textual), { columnType: 'Number' }),
    ),
    fails('duplicate synonyms for a table', 'DUPLICATE_SYNONYM', async (stage) => ({
      tables: [{ name: (await findColumn(stage, anyColumn)).tableName, synonyms: ['word', 'word'] }],
    })),
    check('at least one of tables and feedback must be present, else INVALID_REQUEST_BODY', async (stage) => {
      expectRefusal(await writes(stage, target, {}), 400, 'INVALID_REQUEST_BODY');
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
    check('a data app API key fails with AUTHENTICATION_ERROR', async (stage) => {
      const answer = await sendTo(stage, target, await target.input(stage), await bearerOf(stage, 'apiKey'));
      expectRefusal(answer, anyRefusal, 'AUTHENTICATION_ERROR');
    }),
    ours(
      check('and that with 403', async (stage) => {
        const answer = await sendTo(stage, target, await target.input(stage), await bearerOf(stage, 'apiKey'));
        expectRefusal(answer, 403, 'AUTHENTICATION_ERROR');
      }),
    ),
    check('INVALID_DATAMART: unknown datamart', async (stage) => {
      const input = withValue(await target.input(stage), 'datamartName', stage.name('nothing'));
      expectRefusal(await sendTo(stage, target, input), anyRefusal, 'INVALID_DATAMART');
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
