/** 12 to 14: workspaces and their listings. */
import { type Check, checksOf, guards, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
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
import type { Stage } from '../kit/stage.js';
import type { Json, Method } from '../kit/wire.js';

const path = '/api/v2/workspace';
const keyCodes = ['AUTHENTICATION_ERROR', 'INVALID_DATA_APP_API_KEY'];

/** A name that does not exist, in a body that would be valid. */
const unknown = async (stage: Stage): Promise<Json> => ({
  name: stage.name('nothing'),
  connectionType: 'DATAMART',
  datamartName: stage.name('nomart'),
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

const make = async (stage: Stage, what: string, parts: Json): Promise<string> => {
  if (!stage.options.makesWorkspaces) throw new NotTried('needs --make-workspaces: no operation deletes a workspace');
  const name = stage.toMake('workspace', what, (await stage.app()).key);
  expectOk(await sendTo(stage, creation, { name, ...parts }), saved(name));
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

const datamartSource = async (stage: Stage): Promise<Json> => ({
  connectionType: 'DATAMART',
  datamartName: (await stage.source()).name,
});

const made: readonly Check[] = [
  create('Response: {data: {name}, error: null}, with DATAMART and a datamartName', async (stage) => {
    await make(stage, 'space1', await datamartSource(stage));
  }),
  create('MULTI_DATASOURCE and MULTI_DATAMART carry no source name; optional fields are taken', async (stage) => {
    await make(stage, 'space2', { connectionType: 'MULTI_DATAMART', ...extras });
    await make(stage, 'space3', { connectionType: 'MULTI_DATASOURCE' });
  }),
  create('WORKSPACE_NAME_ALREADY_EXISTS: name taken', async (stage) => {
    const name = await make(stage, 'space4', { connectionType: 'MULTI_DATAMART' });
    const answer = await sendTo(stage, creation, { name, connectionType: 'MULTI_DATAMART' });
    expectRefusal(answer, anyRefusal, 'WORKSPACE_NAME_ALREADY_EXISTS');
  }),
  update('Response: {data: {name}, error: null}', async (stage) => {
    const name = await make(stage, 'space5', { connectionType: 'MULTI_DATAMART' });
    const input = { name, ...(await datamartSource(stage)), ...extras };
    expectOk(await sendTo(stage, updating, input), saved(name));
  }),
  update('INVALID_DATAMART_NAME: unknown source', async (stage) => {
    const name = await make(stage, 'space6', { connectionType: 'MULTI_DATAMART' });
    expectRefusal(
      await sendTo(stage, updating, { ...(await unknown(stage)), name }),
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
  create(`${code}: ${sentence}`, async (stage) => {
    const name = stage.toMake('workspace', 'unmade', (await stage.app()).key);
    expectRefusal(await sendTo(stage, creation, { name, ...source }), anyRefusal, code);
  });

const listing = (operation: OperationId, at: string, item: string): readonly Check[] => {
  const check = checksOf(operation);
  const target: Target = {
    operation,
    method: 'POST',
    path: at,
    credential: 'apiKey',
    in: 'body',
    input: async (stage) => ({ workspaceName: await stage.workspace() }),
  };
  const shape = fields({ data: listOf(fields({ name: text, [item]: filled })), error: nothing });
  return [
    check(`Response: {data: array of {name, ${item}}, error: null}`, async (stage) => {
      expectOk(await sendTo(stage, target, await target.input(stage)), shape);
    }),
    check('isPagination and pageNumber are optional', async (stage) => {
      const input = { ...(await target.input(stage)), isPagination: true, pageNumber: 1 };
      expectOk(await sendTo(stage, target, input), shape);
    }),
    check('an empty array when none', async (stage) => {
      const input = { ...(await target.input(stage)), isPagination: true, pageNumber: 9999 };
      expectOk(await sendTo(stage, target, input), fields({ data: exactly([]), error: nothing }));
    }),
    check('WORKSPACE_ID_ERROR 400: workspace does not exist', async (stage) => {
      const input = withValue(await target.input(stage), 'workspaceName', stage.name('nothing'));
      expectRefusal(await sendTo(stage, target, input), 400, 'WORKSPACE_ID_ERROR');
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
  update('WORKSPACE_DOES_NOT_EXIST: unknown workspace', async (stage) => {
    const input = { name: stage.name('nothing'), ...(await datamartSource(stage)) };
    expectRefusal(await sendTo(stage, updating, input), anyRefusal, 'WORKSPACE_DOES_NOT_EXIST');
  }),
  ...shared(creation),
  ...shared(updating),
  ...listing('list-dashboards', '/api/v2/workspace/dashboards', 'externalDashboardId'),
  ...listing('list-metrics', '/api/v2/workspace/metrics', 'metricId'),
];
