/** 12 to 14: workspaces and their listings. */
import { type Check, checksOf, guards, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
import type { CheckContext } from '../kit/context.js';
import {
  anyRefusal,
  exactly,
  expectOk,
  expectRefusal,
  fields,
  filled,
  listOf,
  NotTried,
  nothing,
  text,
} from '../kit/expect.js';
import type { OperationId } from '../kit/operations.js';
import type { Json, Method } from '../kit/wire.js';

const path = '/api/v2/workspace';
const keyCodes = ['AUTHENTICATION_ERROR', 'INVALID_DATA_APP_API_KEY'];

/** A body that is valid except for its unknown names. */
const unknown = async (context: CheckContext): Promise<Json> => ({
  name: context.name('nothing'),
  connectionType: 'DATAMART',
  datamartName: context.name('nomart'),
});

const targetOf = (operation: OperationId, method: Method): Target => ({
  operation,
  method,
  path,
  credential: 'apiKey',
  in: 'body',
  input: unknown,
});
const creation = targetOf('create-workspace', 'POST');
const updating = targetOf('update-workspace', 'PUT');

const saved = (name: string) => fields({ data: fields({ name: exactly(name) }), error: nothing });

const make = async (context: CheckContext, what: string, parts: Json): Promise<string> => {
  if (!context.options.makesWorkspaces) throw new NotTried('needs --make-workspaces: no operation deletes a workspace');
  const name = context.toMake('workspace', what, (await context.app()).key);
  expectOk(await sendTo(context, creation, { name, ...parts }), saved(name));
  return name;
};

const extras: Json = {
  llmName: 'model',
  aiCopilotLlms: ['model'],
  isEnableMetricSuggestions: true,
  isEnableMetricSummary: true,
  summaryType: 'custom',
  customSummaryPrompt: 'In one sentence.',
  themeName: 'theme',
};

const create = checksOf('create-workspace');
const update = checksOf('update-workspace');

const datamartSource = async (context: CheckContext): Promise<Json> => ({
  connectionType: 'DATAMART',
  datamartName: (await context.source()).name,
});

const made: readonly Check[] = [
  create('Response: {data: {name}, error: null}, with DATAMART and a datamartName', async (context) => {
    await make(context, 'space1', await datamartSource(context));
  }),
  create('MULTI_DATASOURCE and MULTI_DATAMART carry no source name; optional fields are taken', async (context) => {
    await make(context, 'space2', { connectionType: 'MULTI_DATAMART', ...extras });
    await make(context, 'space3', { connectionType: 'MULTI_DATASOURCE' });
  }),
  create('WORKSPACE_NAME_ALREADY_EXISTS: name taken', async (context) => {
    const name = await make(context, 'space4', { connectionType: 'MULTI_DATAMART' });
    const answer = await sendTo(context, creation, { name, connectionType: 'MULTI_DATAMART' });
    expectRefusal(answer, anyRefusal, 'WORKSPACE_NAME_ALREADY_EXISTS');
  }),
  update('Response: {data: {name}, error: null}', async (context) => {
    const name = await make(context, 'space5', { connectionType: 'MULTI_DATAMART' });
    const input = { name, ...(await datamartSource(context)), ...extras };
    expectOk(await sendTo(context, updating, input), saved(name));
  }),
  update('INVALID_DATAMART_NAME: unknown source', async (context) => {
    const name = await make(context, 'space6', { connectionType: 'MULTI_DATAMART' });
    expectRefusal(
      await sendTo(context, updating, { ...(await unknown(context)), name }),
      anyRefusal,
      'INVALID_DATAMART_NAME',
    );
  }),
];

const shared = (target: Target): readonly Check[] => [
  ...requires(target, ['connectionType']),
  ...refuses(target, [
    ['connectionType', 'SOMETHING'],
    ['connectionType', 'datamart'],
    ['name', 1],
    ['aiCopilotLlms', 'model'],
    ['aiCopilotLlms', [1]],
    ['isEnableMetricSuggestions', 'true'],
    ['isEnableMetricSummary', 1],
    ['customSummaryPrompt', 1],
    ['themeName', 1],
    ['noSuchField', 1],
  ]),
  ...guards(target, { statuses: 401, codes: keyCodes }),
];

const unknownSource = (sentence: string, code: string, source: Json): Check =>
  create(`${code}: ${sentence}`, async (context) => {
    const name = context.toMake('workspace', 'unmade', (await context.app()).key);
    expectRefusal(await sendTo(context, creation, { name, ...source }), anyRefusal, code);
  });

const listing = (operation: OperationId, at: string, item: string): readonly Check[] => {
  const check = checksOf(operation);
  const target: Target = {
    operation,
    method: 'POST',
    path: at,
    credential: 'apiKey',
    in: 'body',
    input: async (context) => ({ workspaceName: await context.workspace() }),
  };
  const shape = fields({ data: listOf(fields({ name: text, [item]: filled })), error: nothing });
  return [
    check(`Response: {data: array of {name, ${item}}, error: null}`, async (context) => {
      expectOk(await sendTo(context, target, await target.input(context)), shape);
    }),
    check('isPagination and pageNumber are optional', async (context) => {
      const input = { ...(await target.input(context)), isPagination: true, pageNumber: 1 };
      expectOk(await sendTo(context, target, input), shape);
    }),
    check('an empty array when none', async (context) => {
      const input = { ...(await target.input(context)), isPagination: true, pageNumber: 9999 };
      expectOk(await sendTo(context, target, input), fields({ data: exactly([]), error: nothing }));
    }),
    check('WORKSPACE_ID_ERROR 400: workspace does not exist', async (context) => {
      const input = withValue(await target.input(context), 'workspaceName', context.name('nothing'));
      expectRefusal(await sendTo(context, target, input), 400, 'WORKSPACE_ID_ERROR');
    }),
    ...requires(target, ['workspaceName']),
    ...refuses(target, [
      ['workspaceName', 1],
      ['isPagination', 'true'],
      ['pageNumber', '1'],
      ['noSuchField', 1],
    ]),
    ...guards(target, { statuses: 401, codes: keyCodes }),
  ];
};

export const workspaceChecks: readonly Check[] = [
  ...made,
  unknownSource('unknown datamart', 'INVALID_DATAMART_NAME', {
    connectionType: 'DATAMART',
    datamartName: 'no such mart',
  }),
  unknownSource('unknown datasource', 'INVALID_DATASOURCE_NAME', {
    connectionType: 'DATASOURCE',
    datasourceName: 'no such source',
  }),
  update('WORKSPACE_DOES_NOT_EXIST: unknown workspace', async (context) => {
    const input = { name: context.name('nothing'), ...(await datamartSource(context)) };
    expectRefusal(await sendTo(context, updating, input), anyRefusal, 'WORKSPACE_DOES_NOT_EXIST');
  }),
  ...shared(creation),
  ...shared(updating),
  ...listing('list-dashboards', '/api/v2/workspace/dashboards', 'externalDashboardId'),
  ...listing('list-metrics', '/api/v2/workspace/metrics', 'metricId'),
];
