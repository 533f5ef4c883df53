/** Operation 12, and the list of workspaces. */
import { z } from 'zod';
import type { Workspace } from '../../model/organization.js';
import { mapItems, type Slices } from '../../model/slices.js';
import {
  decodePagination,
  identifier,
  list,
  pagination,
  queryPagination,
  text,
} from '../../platform/http/interface/fields.js';
import { noError, operation } from '../../platform/http/interface/operation.js';

const name = identifier.describe('Identifies the workspace.');

const summaryType = identifier.describe('`custom` requires `customSummaryPrompt`.');

const settings = {
  llmName: identifier.optional(),
  aiCopilotLlms: list(identifier).optional(),
  isEnableMetricSuggestions: z.boolean().optional(),
  isEnableMetricSummary: z.boolean().optional(),
  summaryType: summaryType.optional(),
  customSummaryPrompt: text.optional(),
  themeName: identifier.optional(),
};

/** spec-gap: a missing setting keeps its value; null clears it. */
const changedSettings = {
  llmName: identifier.nullish(),
  aiCopilotLlms: list(identifier).nullish(),
  isEnableMetricSuggestions: z.boolean().nullish(),
  isEnableMetricSummary: z.boolean().nullish(),
  summaryType: summaryType.nullish(),
  customSummaryPrompt: text.nullish(),
  themeName: identifier.nullish(),
};

/** The source that fits the connection type. Other sources are refused. */
const connected = <Settings extends z.ZodRawShape>(rest: Settings) =>
  z.discriminatedUnion('connectionType', [
    z.strictObject({ name, connectionType: z.literal('DATASOURCE'), datasourceName: identifier, ...rest }),
    z.strictObject({ name, connectionType: z.literal('DATAMART'), datamartName: identifier, ...rest }),
    z.strictObject({ name, connectionType: z.enum(['MULTI_DATASOURCE', 'MULTI_DATAMART']), ...rest }),
  ]);

const savedWorkspace = z.object({ data: z.object({ name: z.string() }), error: noError });
const encodeWorkspace = (workspace: Workspace) => ({ data: { name: workspace.name }, error: null });
const workspaceErrors = {
  AUTHENTICATION_ERROR: 401,
  INVALID_DATASOURCE_NAME: 400,
  INVALID_DATAMART_NAME: 400,
} as const;

export const createWorkspace = operation({
  name: 'createWorkspace',
  section: '12',
  resource: 'Workspaces',
  summary: 'Create a workspace',
  credentials: ['apiKey', 'serviceToken'],
  reads: 'nothing',
  roles: ['author'],
  input: connected(settings),
  output: savedWorkspace,
  encode: encodeWorkspace,
  errors: { ...workspaceErrors, WORKSPACE_NAME_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/workspace', from: 'body' }],
  example: {
    input: { name: 'flights', connectionType: 'DATAMART', datamartName: 'flights', themeName: 'dark' },
    output: { data: { name: 'flights' }, error: null },
  },
});

export const updateWorkspace = operation({
  name: 'updateWorkspace',
  section: '12',
  resource: 'Workspaces',
  summary: 'Update a workspace, identified by its name',
  description:
    'Replaces the connection. An embed whose datamart the workspace no longer reaches is refused. Missing settings keep their values; null clears a setting.',
  credentials: ['apiKey', 'serviceToken'],
  reads: 'nothing',
  roles: ['author'],
  input: connected(changedSettings),
  output: savedWorkspace,
  encode: encodeWorkspace,
  errors: { ...workspaceErrors, WORKSPACE_DOES_NOT_EXIST: 400 },
  bindings: [{ method: 'PUT', path: '/api/v2/workspace', from: 'body' }],
  example: {
    input: { name: 'flights', connectionType: 'MULTI_DATAMART', themeName: null },
    output: { data: { name: 'flights' }, error: null },
  },
});

export const deleteWorkspace = operation({
  name: 'deleteWorkspace',
  section: 'facts',
  resource: 'Workspaces',
  summary: 'Delete a workspace',
  description:
    'Refused while it has dashboards; the message names some. Metrics that are on no dashboard are deleted with it. Cannot be undone.',
  credentials: ['serviceToken'],
  reads: 'nothing',
  roles: ['author'],
  input: z.strictObject({ name: identifier }),
  output: savedWorkspace,
  encode: encodeWorkspace,
  errors: { AUTHENTICATION_ERROR: 401, WORKSPACE_DOES_NOT_EXIST: 400, STILL_IN_USE: 409 },
  bindings: [{ method: 'DELETE', path: '/api/v2/workspace', from: 'query' }],
  example: { input: { name: 'flights' }, output: { data: { name: 'flights' }, error: null } },
});

const encodeListed = ({ id: _, datasourceId: __, datamartId: ___, ...listed }: Workspace) => ({
  ...listed,
});

export const listWorkspaces = operation({
  name: 'listWorkspaces',
  section: 'facts',
  resource: 'Workspaces',
  summary: 'List the workspaces with their settings',
  credentials: ['apiKey', 'serviceToken'],
  reads: 'definitions',
  roles: ['author', 'publisher', 'support', 'auditor'],
  input: z.strictObject(pagination),
  output: z.object({ data: z.array(z.object({ name, connectionType: z.string().optional(), ...settings })) }),
  encode: (workspaces: Slices<Workspace>) => ({ data: mapItems(workspaces, encodeListed) }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [
    {
      method: 'GET',
      path: '/api/v2/workspace',
      from: 'query',
      input: z.strictObject(queryPagination).transform(decodePagination),
    },
  ],
  example: {
    input: { isPagination: true, pageNumber: 1 },
    output: { data: [{ name: 'flights', connectionType: 'DATAMART', llmName: 'small' }] },
  },
});
