/** The access settings that both embed-creation operations take. */

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

/** Values that both operations take. */
export const sharedValues: readonly Setting[] = [
  ['metricCreationMode', 'CHAT'],
  ['metricCreationMode', 'DRAG_DROP'],
  ['isAllowAiPilot', true],
  ['joinModel', 'single'],
  ['joinModel', 'multi'],
  ['isIncrementalJoin', true],
  ['tableTenancySettings', []],
];

/** And those of create embed only. */
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

/** Values that neither takes. */
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
