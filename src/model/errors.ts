/**
 * Every code that a caller of the service or the gateway can receive, with its meaning, who can fix the cause, and how.
 * docs/reference/errors.md is generated from this table. The HTTP status is not here: each operation declares it in src/service.
 */

/**
 * Who can remove the cause. `end user` is the person at the browser; `host developer` writes the host application's
 * calls.
 */
export type Mender = 'end user' | 'host developer' | 'operator' | 'policy author';

export type ErrorEntry = { readonly meaning: string; readonly mender: Mender; readonly fix: string };

const listNames = 'List the names that exist, and send one of them.';

export const errors = {
  API_KEY_ALREADY_EXISTS: {
    meaning: 'The data app has a current API key of this name.',
    mender: 'host developer',
    fix: 'Choose another name, or delete the key of that name first.',
  },
  API_KEY_NOT_FOUND: {
    meaning: 'The data app has no current API key of this name.',
    mender: 'host developer',
    fix: 'List the keys with `GET /api/v2/data-app/api-tokens`, and send one of their names.',
  },
  APP_FILTER_PARAM_ERROR: {
    meaning:
      'An app filter of the token names a metric, dashboard or filter that does not exist for the client, or has a value of the wrong kind.',
    mender: 'host developer',
    fix: 'Correct `params.appFilters` or `params.dashboardAppFilters` of the guest token; behind the gateway, the restrictions of the policy.',
  },
  AUTHENTICATION_ERROR: {
    meaning: 'The credential is missing, unknown, expired, revoked, or of a kind that the operation does not take.',
    mender: 'host developer',
    fix: 'Send a current API key, service token or guest token as `Authorization: Bearer`. In the gateway: a signed hook or admin call was not accepted.',
  },
  CHAT_LIMIT_REACHED: {
    meaning: 'A language model found no answer within the rounds, the tokens or the time of one question.',
    mender: 'end user',
    fix: 'Ask a simpler question. The settings `chat.rounds`, `chat.tokens` and `chat.seconds` are the limits.',
  },
  CLIENT_ID_ERROR: {
    meaning:
      "The client id does not fit the datamart's tenancy: empty, `None` under tenancy, not a canonical number, or no database of the datasource's list.",
    mender: 'host developer',
    fix: 'Send the id that identifies this client in the data. For tenancy by database, create the database and call `POST /api/v2/datasource/sync`.',
  },
  DATAMART_CHANGED: {
    meaning: 'The datamart changed after the version that the request names.',
    mender: 'host developer',
    fix: 'Read the datamart again, apply the change to it, and send it with the new `expectedUpdatedAt`.',
  },
  SEMANTIC_LAYER_CHANGED: {
    meaning: 'The semantic layer changed after the version that the request names.',
    mender: 'host developer',
    fix: 'Read the semantic layer again, apply the change to it, and send it with the new `expectedLastUpdated`.',
  },
  DASHBOARD_CHANGED: {
    meaning: 'The dashboard changed after the version that the request names.',
    mender: 'host developer',
    fix: 'Read the content again, apply the change to it, and send it with the new version.',
  },
  BOARD_ALREADY_EXISTS: {
    meaning: 'The user has an own dashboard of this name on the dashboard.',
    mender: 'end user',
    fix: 'Choose another name.',
  },
  BOARD_CHANGED: {
    meaning: 'The own dashboard changed after the version that the request names.',
    mender: 'end user',
    fix: 'Read it again, apply the change to it, and send it with the new version.',
  },
  BOARD_NOT_FOUND: {
    meaning: 'The user has no such own dashboard on the dashboard, and none is shared.',
    mender: 'end user',
    fix: 'Reload the list of own dashboards.',
  },
  METRIC_CHANGED: {
    meaning: 'The metric changed after the version that the request names.',
    mender: 'end user',
    fix: 'Read the definition again, apply the change to it, and send it with the new digest.',
  },
  DASHBOARD_CREATE_ERROR: {
    meaning: 'The dashboard could not be created.',
    mender: 'host developer',
    fix: 'Follow the message; where it names a request id, the operator finds the cause in the log.',
  },
  DASHBOARD_PARAM_ERROR: {
    meaning: 'The token names an embed, dashboard, metric or filter that does not exist for the client.',
    mender: 'host developer',
    fix: 'Correct `params.allowedEmbeds`, `params.hideDashboardMetrics` or `params.hideDashboardFilters`.',
  },
  DATA_APP_ALREADY_EXISTS: {
    meaning: 'A data app of this name exists.',
    mender: 'host developer',
    fix: 'Choose another name.',
  },
  DATA_APP_NOT_FOUND: { meaning: 'No data app has this name.', mender: 'host developer', fix: listNames },
  DATAMART_ALREADY_EXISTS: {
    meaning: 'A datamart of this name exists.',
    mender: 'host developer',
    fix: 'Choose another name, or update the datamart.',
  },
  DATASOURCE_ALREADY_EXISTS: {
    meaning: 'A datasource of this name exists.',
    mender: 'host developer',
    fix: 'Choose another name, or update the datasource.',
  },
  DATASOURCE_CONNECTION_ERROR: {
    meaning: "The datasource's server could not be reached, or refused the connection.",
    mender: 'operator',
    fix: 'Check host, port, credentials and the allow-list of datasource hosts; the log has the cause under the request id.',
  },
  DATASOURCE_ID_ERROR: { meaning: 'No datasource has this name or id.', mender: 'host developer', fix: listNames },
  DATASOURCE_NAME_ERROR: {
    meaning: 'The named datasource or datamart does not exist, or none is named where several are possible.',
    mender: 'host developer',
    fix: 'Send `datasourceName` or `datamartName` of a source that the workspace reaches.',
  },
  DUPLICATE_SYNONYM: {
    meaning: 'A synonym occurs twice within a table.',
    mender: 'host developer',
    fix: 'Send each synonym of a table once.',
  },
  EMBED_NOT_GRANTED: {
    meaning: 'The policy does not grant this user an embed that the request names, or it grants no embed at all.',
    mender: 'policy author',
    fix: 'Grant the embed in the policy, or ask for fewer `embeds`. `guestlist policy explain` shows the decision.',
  },
  EMBED_PARAM_ERROR: {
    meaning: 'The embed is unknown, belongs to another data app, or its owner is another client.',
    mender: 'host developer',
    fix: "Send an embed id of the key's own data app, and the client that the embed belongs to.",
  },
  INTERNAL_SERVER_ERROR: {
    meaning: 'The server failed. The request may be correct.',
    mender: 'operator',
    fix: 'Find the cause in the log under the request id of the message.',
  },
  INVALID_COLUMN: {
    meaning: 'A column is not in the datamart.',
    mender: 'host developer',
    fix: 'Send names of columns as the datamart lists them.',
  },
  INVALID_COLUMN_TYPE: {
    meaning: "The column type does not fit the column's datatype.",
    mender: 'host developer',
    fix: 'Send a column type that the datatype allows.',
  },
  INVALID_DASHBOARD_DATA: {
    meaning: 'The uploaded dashboard export has no `data` object.',
    mender: 'host developer',
    fix: 'Send the whole export file, unchanged.',
  },
  INVALID_DASHBOARD_ID: {
    meaning: 'The dashboard does not exist, or a new dashboard has an id that is taken.',
    mender: 'host developer',
    fix: 'Send the id of an existing dashboard; for a new one, an id that the data app does not use.',
  },
  INVALID_DATA_APP_API_KEY: {
    meaning: 'The API key is missing, or not valid for this operation.',
    mender: 'host developer',
    fix: 'Send a current API key of the data app.',
  },
  INVALID_DATAMART: { meaning: 'No datamart has this name.', mender: 'host developer', fix: listNames },
  INVALID_DATAMART_NAME: {
    meaning: 'No datamart has this name, or the workspace does not reach it.',
    mender: 'host developer',
    fix: 'Send the name of a datamart that the workspace is connected to.',
  },
  INVALID_DATASOURCE_NAME: { meaning: 'No datasource has this name.', mender: 'host developer', fix: listNames },
  INVALID_EMBED_ID: {
    meaning: 'The data app has no embed of this id, or the caller may not use it.',
    mender: 'host developer',
    fix: 'List the embeds with `GET /api/v2/data-app/embeds`, and send one of their ids.',
  },
  INVALID_METRIC_ID: {
    meaning: 'The metric does not exist where the request looks for it.',
    mender: 'host developer',
    fix: 'Send the id of a metric of this workspace, dashboard or embed.',
  },
  INVALID_REQUEST_BODY: {
    meaning:
      'The request is not valid: a field is missing, unknown, of the wrong type, or names something that does not exist.',
    mender: 'host developer',
    fix: 'Correct the fields that the message names.',
  },
  INVALID_SERVICE_TOKEN: {
    meaning: 'The service token is missing or not valid for this operation.',
    mender: 'host developer',
    fix: 'Send a current service token.',
  },
  INVALID_TABLE: {
    meaning: 'A table is not in the datamart.',
    mender: 'host developer',
    fix: 'Send names of tables as the datamart lists them.',
  },
  INVALID_WORKSPACE_NAME: { meaning: 'No workspace has this name.', mender: 'host developer', fix: listNames },
  METHOD_NOT_ALLOWED: {
    meaning: 'The path does not take this HTTP method.',
    mender: 'host developer',
    fix: 'Use a method of the `Allow` header.',
  },
  METRIC_QUERY_ERROR: {
    meaning:
      "The metric's query could not be run: its definition does not fit the datamart or its tenancy, the datasource failed, or the query took too long.",
    mender: 'host developer',
    fix: 'Query the metric with the API key: that answer names the cause. For a datasource that fails, the log has the cause.',
  },
  MODEL_ANSWER_INVALID: {
    meaning: 'The language model answered outside its protocol, or too much.',
    mender: 'end user',
    fix: 'Ask again. If it lasts, the log has what was wrong with the answer, under the request id.',
  },
  MODEL_NOT_CONFIGURED: {
    meaning: 'The workspace names no language model that the configuration has.',
    mender: 'operator',
    fix: 'Add the model to `models` of the configuration, and name it in `llmName` of the workspace.',
  },
  MODEL_UNAVAILABLE: {
    meaning: 'The language model cannot be reached, refuses, or does not answer in time.',
    mender: 'end user',
    fix: 'Try again later. If it lasts, the log has the cause under the request id.',
  },
  NO_POLICY: {
    meaning: 'No rule of the policy applies to this user.',
    mender: 'policy author',
    fix: 'Add a rule that matches the session, or give the user a role. `guestlist policy explain` shows the decision.',
  },
  NO_TENANT: {
    meaning:
      'The session belongs to no tenant, to several and the request names none of them, or to one that the table of tenants lacks (`tenant-not-in-table`).',
    mender: 'policy author',
    fix: 'Check the claim or lookup under `session.tenant` of the policy; for several tenants, send `tenant`.',
  },
  NOT_FOUND: {
    meaning: 'No operation or page has this path.',
    mender: 'host developer',
    fix: 'Check the path; `/docs/api` lists every operation.',
  },
  NOT_SUPPORTED: {
    meaning: 'The service behind the gateway does not support this operation.',
    mender: 'operator',
    fix: 'Use the built-in service, or do without the operation: the message says what is missing.',
  },
  POLICY_CHANGED: {
    meaning: 'The policy changed after the version that the request names.',
    mender: 'policy author',
    fix: 'Read the policy again, make the change to it, and send it with the new digest.',
  },
  POLICY_UNDECIDED: {
    meaning: 'An expression of the policy could not be evaluated for this user, so access is denied.',
    mender: 'policy author',
    fix: 'Find the expression in the log or with `guestlist policy explain`; supply the claim that it needs.',
  },
  QUOTA_REACHED: {
    meaning: 'The tenant has used what its plan allows: questions or files of the day, or users of the month.',
    mender: 'end user',
    fix: 'Wait until the time that the message names, or ask for a larger plan; the policy sets it as `quota`.',
  },
  RATE_LIMITED: {
    meaning: 'The caller has sent too many requests.',
    mender: 'end user',
    fix: 'Wait for the time in `Retry-After`, then try again.',
  },
  RLS_SETTINGS_PARAM_ERROR: {
    meaning:
      'A row-level security variable has no value in the token, a value of the wrong kind, or names an unknown metric.',
    mender: 'host developer',
    fix: 'Correct `params.rlsSettings` of the guest token; behind the gateway, `rls` of the policy.',
  },
  SEMANTIC_LAYER_ALREADY_EXISTS: {
    meaning: 'The datamart has a semantic layer.',
    mender: 'host developer',
    fix: 'Update it with PUT instead of creating it.',
  },
  SEMANTIC_LAYER_NOT_FOUND: {
    meaning: 'The datamart has no semantic layer.',
    mender: 'host developer',
    fix: 'Create it with POST first.',
  },
  SERVICE_TOKEN_ALREADY_EXISTS: {
    meaning: 'A current service token has this name.',
    mender: 'host developer',
    fix: 'Choose another name, or delete the token of that name first.',
  },
  SERVICE_TOKEN_NOT_FOUND: {
    meaning: 'No current service token has this name.',
    mender: 'host developer',
    fix: listNames,
  },
  SERVICE_UNAVAILABLE: {
    meaning: 'A database of the service is unavailable: it is unreachable, read-only or full.',
    mender: 'operator',
    fix: 'Try again after `Retry-After`. If it lasts, find the cause in the log under the request id of the message.',
  },
  SESSION_INVALID: {
    meaning: "The host's session is missing, expired, or not signed as configured.",
    mender: 'end user',
    fix: 'Sign in again. If that does not help, compare issuer, audience and keys of the host with the configuration.',
  },
  STILL_IN_USE: {
    meaning: 'Other items depend on the item to delete. The message names them; nothing was deleted.',
    mender: 'host developer',
    fix: 'Delete what the message names, or connect it to something else, and send the request again.',
  },
  TEMPLATE_DASHBOARD_ERROR: {
    meaning: 'The template dashboard does not exist, or does not belong to the organization.',
    mender: 'host developer',
    fix: 'Send the id of a dashboard of the organization.',
  },
  TENANT_SUSPENDED: {
    meaning: 'The tenant is suspended or deleted.',
    mender: 'operator',
    fix: 'Send the hook `tenant-resumed`, or `tenant-signed-up` after a deletion.',
  },
  TOKEN_EXPIRED: {
    meaning: 'The guest token has expired.',
    mender: 'end user',
    fix: 'Reload the page: the host application fetches a new token.',
  },
  UNAUTHORIZED: {
    meaning: 'The guest token does not open this embed, or does not permit this action.',
    mender: 'host developer',
    fix: 'Mint a token with the embed in `allowedEmbeds` and the permission that the action needs.',
  },
  UPSTREAM_UNAVAILABLE: {
    meaning:
      'The gateway cannot reach the service, the service refused it, or a database of the gateway is unavailable.',
    mender: 'operator',
    fix: 'Try again after `Retry-After`. If it lasts, the log of the gateway has the cause.',
  },
  VIEW_ALREADY_EXISTS: {
    meaning: 'The user has a saved view of this name on the dashboard.',
    mender: 'end user',
    fix: 'Choose another name.',
  },
  SCHEDULE_NOT_FOUND: {
    meaning: 'The user has no such schedule on the dashboard.',
    mender: 'end user',
    fix: 'Reload the list of schedules.',
  },
  VIEW_NOT_FOUND: {
    meaning: 'The user has no such saved view on the dashboard.',
    mender: 'end user',
    fix: 'Reload the list of views.',
  },
  WORKSPACE_DOES_NOT_EXIST: { meaning: 'No workspace has this name.', mender: 'host developer', fix: listNames },
  WORKSPACE_ID_ERROR: { meaning: 'No workspace has this name.', mender: 'host developer', fix: listNames },
  WORKSPACE_NAME_ALREADY_EXISTS: {
    meaning: 'A workspace of this name exists.',
    mender: 'host developer',
    fix: 'Choose another name, or update the workspace.',
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

/** Every code that can leave this system. */
export type Code = keyof typeof errors;
