/**
 * Every code that can leave this system. Which of them an operation may answer, and with which HTTP status,
 * is declared by the operation in contract/: the same code has different statuses in different places.
 */
export type Code =
  | 'API_KEY_ALREADY_EXISTS'
  | 'API_KEY_NOT_FOUND'
  | 'APP_FILTER_PARAM_ERROR'
  | 'AUTHENTICATION_ERROR'
  | 'CLIENT_ID_ERROR'
  | 'DASHBOARD_CHANGED'
  | 'DASHBOARD_CREATE_ERROR'
  | 'DASHBOARD_PARAM_ERROR'
  | 'DATA_APP_ALREADY_EXISTS'
  | 'DATA_APP_NOT_FOUND'
  | 'DATAMART_ALREADY_EXISTS'
  | 'DATASOURCE_ALREADY_EXISTS'
  | 'DATASOURCE_CONNECTION_ERROR'
  | 'DATASOURCE_ID_ERROR'
  | 'DATASOURCE_NAME_ERROR'
  | 'DUPLICATE_SYNONYM'
  | 'EMBED_NOT_GRANTED'
  | 'EMBED_PARAM_ERROR'
  | 'INTERNAL_SERVER_ERROR'
  | 'INVALID_COLUMN'
  | 'INVALID_COLUMN_TYPE'
  | 'INVALID_DASHBOARD_DATA'
  | 'INVALID_DASHBOARD_ID'
  | 'INVALID_DATA_APP_API_KEY'
  | 'INVALID_DATAMART'
  | 'INVALID_DATAMART_NAME'
  | 'INVALID_DATASOURCE_NAME'
  | 'INVALID_EMBED_ID'
  | 'INVALID_METRIC_ID'
  | 'INVALID_REQUEST_BODY'
  | 'INVALID_SERVICE_TOKEN'
  | 'INVALID_TABLE'
  | 'INVALID_WORKSPACE_NAME'
  | 'METHOD_NOT_ALLOWED'
  | 'METRIC_QUERY_ERROR'
  | 'NO_POLICY'
  | 'NO_TENANT'
  | 'NOT_FOUND'
  | 'NOT_SUPPORTED'
  | 'POLICY_UNDECIDED'
  | 'RATE_LIMITED'
  | 'RLS_SETTINGS_PARAM_ERROR'
  | 'SEMANTIC_LAYER_ALREADY_EXISTS'
  | 'SEMANTIC_LAYER_NOT_FOUND'
  | 'SERVICE_TOKEN_ALREADY_EXISTS'
  | 'SERVICE_TOKEN_NOT_FOUND'
  | 'SESSION_INVALID'
  | 'TEMPLATE_DASHBOARD_ERROR'
  | 'TENANT_SUSPENDED'
  | 'TOKEN_EXPIRED'
  | 'UNAUTHORIZED'
  | 'UPSTREAM_UNAVAILABLE'
  | 'VIEW_ALREADY_EXISTS'
  | 'VIEW_NOT_FOUND'
  | 'WORKSPACE_DOES_NOT_EXIST'
  | 'WORKSPACE_ID_ERROR'
  | 'WORKSPACE_NAME_ALREADY_EXISTS';

/**
 * A request that is refused. `message` is public: it says what is wrong, where, and how to mend it, and holds nothing
 * that the caller may not see. `reason` is a private slug for the log; `cause` never leaves the process either.
 * `retryAfterSeconds`: when the same request may be answered.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: Code;
  readonly reason: string;
  readonly retryAfterSeconds: number | null;

  constructor(
    code: Code,
    message: string,
    options: { reason?: string; cause?: unknown; retryAfterSeconds?: number | undefined } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.reason = options.reason ?? code.toLowerCase().replaceAll('_', '-');
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}
