/** The tables of the interface specification, copied by hand. The declarations are compared with them. */
export type Expected = {
  readonly section: string;
  /** `legacy` marks a camel-case path, `if` a binding with a condition. */
  readonly bindings: readonly string[];
  readonly credentials: readonly string[];
  /** A `!` marks a required field. */
  readonly fields: string;
  /** Fields that Guestlist takes in addition. All are optional. */
  readonly additions?: string;
  readonly errors: Readonly<Record<string, number>>;
  readonly multipartFile?: string;
};

const settings = `isAllowAiPilot isAllowEmailReports! isAllowManageMetrics! isAllowCreateDashboardView!
  isAllowEndUserDashboardFilter dashboardFilterColumns dashboardFilterColumns.tableName! dashboardFilterColumns.columns!
  isAllowEndUserMetricFilter metricFilterColumns metricFilterColumns.tableName! metricFilterColumns.columns!
  isAllowMetricCreation! isAllowMetricDeletion! isAllowMetricLayoutChange! isAllowMetricUpdate! isAllowUnderlyingData!
  joinModel isIncrementalJoin metricCreationMode! tableTenancySettings tableTenancySettings.name!
  tableTenancySettings.clientColumn!`;

const under = (prefix: string, names: string): string =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => `${prefix}.${name}`)
    .join(' ');

const workspace = `name! connectionType! datasourceName! datamartName! llmName aiCopilotLlms isEnableMetricSuggestions
  isEnableMetricSummary summaryType customSummaryPrompt themeName`;
const semantic = `datamartName! tables feedback tables.name! tables.description tables.synonyms tables.columns
  tables.columns.name! tables.columns.description tables.columns.synonyms tables.columns.columnType
  tables.columns.isIdentifier`;
const semanticPath = '/api/v2/data-app/datamarts/semantic-layer';
const semanticErrors = {
  AUTHENTICATION_ERROR: 403,
  INVALID_DATAMART: 400,
  INVALID_TABLE: 400,
  INVALID_COLUMN: 400,
  INVALID_COLUMN_TYPE: 400,
  DUPLICATE_SYNONYM: 400,
};

export const specification: Readonly<Record<string, Expected>> = {
  createGuestToken: {
    section: '1',
    bindings: ['POST /api/v2/guest-token/create'],
    credentials: ['apiKey'],
    fields: `clientId! dataAppName! params permissions expiryTime datasourceName datamartName
      ${under('params', 'allowedEmbeds rlsSettings rlsSettings.metricId! rlsSettings.values! appFilters appFilters.metricId! appFilters.values!')}
      ${under('params', 'dashboardAppFilters dashboardAppFilters.dashboardId! dashboardAppFilters.values! dashboardAppFilters.isShowOnUrl')}
      ${under('params', 'hideDashboardFilters hideDashboardMetrics hideDashboardMetrics.dashboardId! hideDashboardMetrics.metricIds!')}
      ${under('params', 'userIdentifier timezone accessPermissions')}
      ${under('params.accessPermissions', 'isAllowEndUserDashboardFilter dashboardFilterColumns dashboardFilterColumns.tableName! dashboardFilterColumns.columns!')}
      ${under('params.accessPermissions', 'isAllowEndUserMetricFilter metricFilterColumns metricFilterColumns.tableName! metricFilterColumns.columns!')}
      ${under('params.accessPermissions', 'isAllowDashboardFilterNameChange isAllowMetricFilterNameChange')}
      ${under('permissions', 'isEnableArchiveMetrics isEnableManageMetrics isEnableCreateDashboardView isEnableMetricUpdation isEnableCustomizeLayout isEnableUnderlyingData isEnableDownloadMetrics isShowSideBar isShowDashboardName isDisableMetricCreation')}`,
    additions:
      'permissions.isEnableCreateDashboard params.hideColumns params.maskColumns params.quota params.quota.queriesPerDay params.quota.exportsPerDay params.quota.seats',
    errors: {
      AUTHENTICATION_ERROR: 401,
      CLIENT_ID_ERROR: 400,
      // WORKSPACE_ID_ERROR of the known list is left out: no field names a workspace, and a dashboard always has one.
      DASHBOARD_PARAM_ERROR: 400,
      APP_FILTER_PARAM_ERROR: 400,
      RLS_SETTINGS_PARAM_ERROR: 400,
      DATASOURCE_NAME_ERROR: 400,
    },
  },
  createEmbed: {
    section: '2',
    bindings: [
      'POST /api/v2/data-app/embeds',
      'POST /api/v2/dataApp/embeds legacy',
      'POST /api/v2/dataApp/embed/create legacy',
    ],
    credentials: ['apiKey'],
    // Both alternatives are merged here: dashboard (settings with a datamart are required) and metric (settings are
    // optional).
    fields: `dashboardId! embedType! metricId! workspaceName! name accessSettings accessSettings!
      accessSettings.datamartName accessSettings.datamartName! ${under('accessSettings', settings)}`,
    additions: 'accessSettings.isAllowDashboardCreation',
    errors: {
      AUTHENTICATION_ERROR: 401,
      INVALID_WORKSPACE_NAME: 400,
      INVALID_DASHBOARD_ID: 404,
      INVALID_METRIC_ID: 404,
    },
  },
  deleteEmbed: {
    section: '3',
    bindings: [
      'DELETE /api/v2/data-app/embeds',
      'POST /api/v2/data-app/embeds if',
      'DELETE /api/v2/dataApp/embeds legacy',
      'POST /api/v2/dataApp/embeds legacy if',
      'POST /api/v2/dataApp/embed/delete legacy',
    ],
    credentials: ['apiKey'],
    fields: 'embedId!',
    errors: { AUTHENTICATION_ERROR: 401, INVALID_REQUEST_BODY: 400 },
  },
  createDashboardEmbed: {
    section: '4',
    bindings: [
      'POST /api/v2/data-app/dashboard-embeds',
      'POST /api/v2/dataApp/dashboard-embeds legacy',
      'POST /api/v2/dataApp/dashboardEmbed/create legacy',
    ],
    credentials: ['apiKey'],
    fields: `dashboardId! workspaceName! clientId! accessSettings! accessSettings.datamartName! ${under('accessSettings', settings)}
      templateDashboardId metadata isAllowPrivateMetricsByDefault name embedDescription isImportMetrics metricImportMode
      importDashboardData isRenameDashboard schemaPairs schemaPairs.replaceSchema! schemaPairs.targetSchema!`,
    additions: 'accessSettings.isAllowDashboardCreation',
    multipartFile: 'importDashboardDataFile',
    errors: {
      INVALID_DATA_APP_API_KEY: 401,
      INVALID_DASHBOARD_ID: 400,
      CLIENT_ID_ERROR: 400,
      TEMPLATE_DASHBOARD_ERROR: 400,
      INVALID_DASHBOARD_DATA: 400,
      // The specification gives 400 or 500. Causes that the caller can fix have other codes, so this code means an
      // internal failure.
      DASHBOARD_CREATE_ERROR: 500,
    },
  },
  createDataApp: {
    section: '5',
    bindings: ['POST /api/v2/data-app'],
    credentials: ['serviceToken'],
    fields: 'name!',
    errors: { AUTHENTICATION_ERROR: 401, DATA_APP_ALREADY_EXISTS: 400 },
  },
  updateDataApp: {
    section: '6',
    bindings: ['PUT /api/v2/data-app'],
    credentials: ['serviceToken'],
    fields: 'name! updateName!',
    errors: { AUTHENTICATION_ERROR: 401, DATA_APP_NOT_FOUND: 400 },
  },
  deleteDataApp: {
    section: '7',
    bindings: ['DELETE /api/v2/data-app'],
    credentials: ['serviceToken'],
    fields: 'name!',
    errors: { AUTHENTICATION_ERROR: 401, DATA_APP_NOT_FOUND: 400 },
  },
  listDatamarts: {
    section: '8',
    bindings: [
      'GET /api/v2/data-app/datamarts',
      'GET /api/v2/dataApp/datamarts legacy',
      'POST /api/v2/dataApp/datamart/list legacy',
    ],
    credentials: ['serviceToken'],
    fields: 'isPagination pageNumber expandDetails',
    errors: { INVALID_DATA_APP_API_KEY: 400 },
  },
  updateDatamart: {
    section: '9',
    bindings: ['PUT /api/v2/data-app/datamarts', 'PUT /api/v2/dataApp/datamarts legacy'],
    credentials: ['serviceToken'],
    // The last two fields, and tenancyPath, are this project's.
    additions: `expectedUpdatedAt rollups ${under('rollups', 'name! from! dimensions! grain! measures! partition! refresh')} ${under('rollups.measures', 'aggregate! column!')} ${under('rollups.partition', 'column! by! closesAfterHours')} ${under('rollups.refresh', 'everyMinutes at timezone again changeColumn')} cacheStaleSeconds
      ${under('tableList.columns.numbers', 'format unit currency currency.column! currency.tenantColumn! notation decimals scale')} tableList.columns.numbers ${under('tableList.columns.dates', 'style precision')} tableList.columns.dates tableList.columns.isBoolean tableList.columns.defaultGrain tableList.leftOut
      tableList.through ${under('tableList.through', 'relationship! columns!')}
      tableList.baseFilters ${under('tableList.baseFilters', 'columnName! predicate!')}
      ${under('tableList.baseFilters.predicate', 'kind! values! operator! value! from! to! toIsExclusive! period! pattern!')}`,
    fields: `datamartName! tableList tenancySettings relationships sharedTables cacheTtlSeconds
      ${under('tableList', 'name! schemaName clientColumn tenancyPath isHide label wildcard columns!')}
      ${under('tableList.columns', 'name! alias label isHide isCustomColumn sql isAggregate allowAggregate defaultAggregation isApplyTimezone defaultSort')}
      ${under('tenancySettings', 'tenancyLevel clientColumnType schemaName tableName tableClientNameColumn tablePrimaryKeyColumn primaryDatabase')}
      ${under('relationships', 'parentTableName! parentColumnName! childTableName! childColumnName! relationshipName! cardinality join')}`,
    errors: { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400, INVALID_REQUEST_BODY: 400 },
  },
  deleteDatamart: {
    section: '10',
    bindings: [
      'DELETE /api/v2/data-app/datamart',
      'DELETE /api/v2/data-app/datamart if',
      'POST /api/v2/dataApp/datamart/delete legacy',
    ],
    credentials: ['serviceToken'],
    fields: 'datamartName!',
    errors: { AUTHENTICATION_ERROR: 401, INVALID_REQUEST_BODY: 400 },
  },
  createSemanticLayer: {
    section: '11',
    bindings: [`POST ${semanticPath}`],
    credentials: ['serviceToken'],
    fields: semantic,
    errors: { ...semanticErrors, SEMANTIC_LAYER_ALREADY_EXISTS: 400 },
  },
  updateSemanticLayer: {
    section: '11',
    bindings: [`PUT ${semanticPath}`],
    credentials: ['serviceToken'],
    fields: semantic,
    additions: 'expectedLastUpdated',
    errors: { ...semanticErrors, SEMANTIC_LAYER_NOT_FOUND: 400 },
  },
  getSemanticLayer: {
    section: '11',
    bindings: [`GET ${semanticPath}`],
    credentials: ['serviceToken'],
    fields: 'datamartName!',
    errors: { AUTHENTICATION_ERROR: 403, INVALID_DATAMART: 400 },
  },
  deleteSemanticLayer: {
    section: '11',
    bindings: [`DELETE ${semanticPath}`],
    credentials: ['serviceToken'],
    fields: 'datamartName!',
    errors: { AUTHENTICATION_ERROR: 403, INVALID_DATAMART: 400, SEMANTIC_LAYER_NOT_FOUND: 400 },
  },
  createWorkspace: {
    section: '12',
    bindings: ['POST /api/v2/workspace'],
    credentials: ['apiKey', 'serviceToken'],
    fields: workspace,
    errors: {
      AUTHENTICATION_ERROR: 401,
      WORKSPACE_NAME_ALREADY_EXISTS: 400,
      INVALID_DATASOURCE_NAME: 400,
      INVALID_DATAMART_NAME: 400,
    },
  },
  updateWorkspace: {
    section: '12',
    bindings: ['PUT /api/v2/workspace'],
    credentials: ['apiKey', 'serviceToken'],
    fields: workspace,
    errors: {
      AUTHENTICATION_ERROR: 401,
      WORKSPACE_DOES_NOT_EXIST: 400,
      INVALID_DATASOURCE_NAME: 400,
      INVALID_DATAMART_NAME: 400,
    },
  },
  listDashboards: {
    section: '13',
    bindings: ['POST /api/v2/workspace/dashboards'],
    credentials: ['apiKey', 'serviceToken'],
    fields: 'workspaceName! isPagination pageNumber',
    errors: { AUTHENTICATION_ERROR: 401, WORKSPACE_ID_ERROR: 400 },
  },
  listMetrics: {
    section: '14',
    bindings: ['POST /api/v2/workspace/metrics'],
    credentials: ['apiKey', 'serviceToken'],
    fields: 'workspaceName! isPagination pageNumber',
    errors: { AUTHENTICATION_ERROR: 401, WORKSPACE_ID_ERROR: 400 },
  },
  updateWorkspaceDashboards: {
    section: '15',
    bindings: ['PUT /api/v2/workspace/dashboards'],
    credentials: ['apiKey', 'serviceToken'],
    fields: `workspaceName! dashboards! dashboards.dashboardId! dashboards.filters dashboards.appendMetrics
      dashboards.removedMetrics dashboards.filters.name! dashboards.filters.applyOnTables!
      ${under('dashboards.filters.applyOnTables', 'dataType! schemaName! tableName! columnName!')}
      dashboards.appendMetrics.metricId!`,
    errors: {
      AUTHENTICATION_ERROR: 403,
      INVALID_SERVICE_TOKEN: 400,
      WORKSPACE_ID_ERROR: 400,
      INVALID_DASHBOARD_ID: 400,
      INVALID_METRIC_ID: 400,
    },
  },
  queryMetric: {
    section: '16',
    bindings: ['POST /api/v2/data-app/query', 'POST /api/v2/dataApp/query legacy'],
    credentials: ['apiKey'],
    fields: 'embedId! metricId! clientId! dashboardFilter metricFilter datasourceName datamartName',
    errors: { AUTHENTICATION_ERROR: 401, INVALID_EMBED_ID: 400, EMBED_PARAM_ERROR: 400 },
  },
};
