/** 16. Query a metric. */
import { type Check, checksOf, guards, ours, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
import type { CheckContext } from '../kit/context.js';
import {
  anything,
  expectOk,
  expectRefusal,
  expectThat,
  fields,
  listOf,
  NotTried,
  nothing,
  number,
  orLeftOut,
  rowsOf,
  type Shape,
  text,
} from '../kit/expect.js';
import { isJson, type Json } from '../kit/wire.js';

const path = '/api/v2/data-app/query';
const maxTried = 30;

const found = new WeakMap<CheckContext, Promise<string>>();

const findQueryable = async (context: CheckContext): Promise<string> => {
  const { embedId, workspaceName } = await context.board();
  const bearer = (await context.app()).key;
  const listed = await context.send({
    method: 'POST',
    path: '/api/v2/workspace/metrics',
    body: { workspaceName },
    bearer,
  });
  for (const { metricId } of (isJson(listed.body) ? rowsOf(listed.body) : []).slice(0, maxTried)) {
    const body = { embedId, metricId, clientId: context.clientId };
    const answer = await context.send({ method: 'POST', path, body, bearer });
    if (answer.status === 200 && typeof metricId === 'string') return metricId;
  }
  throw new NotTried('needs a metric on the dashboard that can be queried for --client; none was found');
};

/** A metric of the board that can be queried. */
export const queryable = (context: CheckContext): Promise<string> => {
  const known = found.get(context) ?? findQueryable(context);
  found.set(context, known);
  return known;
};

const target: Target = {
  operation: 'query-metric',
  method: 'POST',
  path,
  credential: 'apiKey',
  in: 'body',
  input: async (context) => ({
    embedId: (await context.board()).embedId,
    metricId: await queryable(context),
    clientId: context.clientId,
  }),
};

const check = checksOf(target.operation);

const row: Shape = (value, at) => (isJson(value) ? undefined : `${at} is no row object`);
const reply = fields({
  data: listOf(row),
  timeTaken: number,
  totalRecords: number,
  comparisonValue: orLeftOut(number),
  metaData: fields({
    columns: listOf(fields({ name: text, dataType: text })),
    groupbyColumnList: listOf(text),
  }),
  metricid: anything,
  error: nothing,
});

const ask = async (context: CheckContext) =>
  expectOk(await sendTo(context, target, await target.input(context)), reply);

const columnsOf = ({ metaData }: Json): readonly string[] =>
  isJson(metaData) && Array.isArray(metaData.columns) ? metaData.columns.map(({ name }) => String(name)) : [];

const answers: readonly Check[] = [
  check('Response 200: data, timeTaken, totalRecords, metaData, metricid and error', async (context) => {
    await ask(context);
  }),
  check('metricid is the metric that was asked', async (context) => {
    const { metricid } = await ask(context);
    expectThat(metricid === (await queryable(context)), `metricid is ${JSON.stringify(metricid)}`);
  }),
  check('data are row objects over the columns of metaData', async (context) => {
    const body = await ask(context);
    const columns = columnsOf(body);
    const stray = rowsOf(body).flatMap((item) => Object.keys(item).filter((name) => !columns.includes(name)));
    expectThat(stray.length === 0, `a row has ${stray[0]}, which is no column of metaData`);
  }),
  check('groupbyColumnList names columns of metaData', async (context) => {
    const body = await ask(context);
    const columns = columnsOf(body);
    const groups =
      isJson(body.metaData) && Array.isArray(body.metaData.groupbyColumnList) ? body.metaData.groupbyColumnList : [];
    expectThat(
      groups.every((name) => columns.includes(String(name))),
      `groupbyColumnList is ${JSON.stringify(groups)}`,
    );
  }),
  check('dashboardFilter and metricFilter are objects keyed by filter name', async (context) => {
    const input = { ...(await target.input(context)), dashboardFilter: {}, metricFilter: {} };
    expectOk(await sendTo(context, target, input), reply);
  }),
];

export const queryChecks: readonly Check[] = [
  ...answers,
  ...refuses(target, [
    ['embedId', 1],
    ['metricId', []],
    ['clientId', 1],
    ['dashboardFilter', 'x'],
    ['metricFilter', []],
    ['noSuchField', 1],
  ]),
  check('INVALID_EMBED_ID 400 or EMBED_PARAM_ERROR: embed not found', async (context) => {
    const input = withValue(await target.input(context), 'embedId', context.name('nothing'));
    expectRefusal(await sendTo(context, target, input), 400, ['INVALID_EMBED_ID', 'EMBED_PARAM_ERROR']);
  }),
  ...guards(target, { statuses: 401, codes: ['AUTHENTICATION_ERROR', 'INVALID_DATA_APP_API_KEY'] }),
  ...requires(target, ['embedId', 'metricId', 'clientId']).map(ours),
  ours(
    check('the alias /api/v2/dataApp/query works', async (context) => {
      expectOk(await sendTo(context, { ...target, path: '/api/v2/dataApp/query' }, await target.input(context)), reply);
    }),
  ),
];
