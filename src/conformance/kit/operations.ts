/** The operations of the interface specification with their section numbers. The report has a row for each. */
export const operations = {
  'create-guest-token': '1',
  'create-embed': '2',
  'delete-embed': '3',
  'create-dashboard-embed': '4',
  'create-data-app': '5',
  'update-data-app': '6',
  'delete-data-app': '7',
  'list-datamarts': '8',
  'update-datamart': '9',
  'delete-datamart': '10',
  'create-semantic-layer': '11',
  'update-semantic-layer': '11',
  'read-semantic-layer': '11',
  'delete-semantic-layer': '11',
  'create-workspace': '12',
  'update-workspace': '12',
  'list-dashboards': '13',
  'list-metrics': '14',
  'update-workspace-dashboards': '15',
  'query-metric': '16',
  additions: 'ours',
} as const;

export type OperationId = keyof typeof operations;

/** The operations that a value of `--only` names: an operation id, or the number of a section. */
export const findOperations = (wanted: string): readonly OperationId[] =>
  (Object.keys(operations) as OperationId[]).filter((id) => id === wanted || operations[id] === wanted);
