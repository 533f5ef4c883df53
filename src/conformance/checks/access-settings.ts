/** The access settings of the two operations that create embeds. */

/** Required for a dashboard. */
export const settingNames = [
  'datamartName',
  'isAllowEmailReports',
  'isAllowManageMetrics',
  'isAllowCreateDashboardView',
  'isAllowMetricCreation',
  'isAllowMetricDeletion',
  'isAllowMetricLayoutChange',
  'isAllowMetricUpdate',
  'isAllowUnderlyingData',
  'metricCreationMode',
] as const;

type Setting = readonly [field: string, value: unknown];

const columns = [{ tableName: 'some.table', columns: ['column'] }];

/** Values that both operations accept. */
export const sharedValues: readonly Setting[] = [
  ['metricCreationMode', 'CHAT'],
  ['metricCreationMode', 'DRAG_DROP'],
  ['isAllowAiPilot', true],
  ['joinModel', 'single'],
  ['joinModel', 'multi'],
  ['isIncrementalJoin', true],
  ['tableTenancySettings', []],
];

/** Values that "create embed" accepts. */
export const settingValues: readonly Setting[] = [
  ...sharedValues,
  ['isAllowEndUserDashboardFilter', true],
  ['isAllowEndUserMetricFilter', true],
  ['dashboardFilterColumns', columns],
  ['metricFilterColumns', columns],
];

const columnFaults = (field: string): readonly Setting[] => [
  [field, [{ tableName: 'some.table' }]],
  [field, [{ columns: ['column'] }]],
  [field, 'some.table'],
];

/** Values that both operations refuse. */
export const sharedFaults: readonly Setting[] = [
  ['isAllowEmailReports', 'false'],
  ['isAllowUnderlyingData', 1],
  ['isAllowAiPilot', 'yes'],
  ['metricCreationMode', 'drag_drop'],
  ['metricCreationMode', 'BOTH'],
  ['joinModel', 'many'],
  ['datamartName', 1],
  ['tableTenancySettings', [{ name: 'some.table' }]],
  ['tableTenancySettings', [{ clientColumn: 'client' }]],
];

export const settingFaults: readonly Setting[] = [
  ...sharedFaults,
  ...columnFaults('dashboardFilterColumns'),
  ...columnFaults('metricFilterColumns'),
];
