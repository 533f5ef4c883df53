import { expect, test } from 'vitest';
import { hostMade, type MetricDefinition, type VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import { changedDefinition, type GuestDefinition, guestFaults } from '../../src/model/guest/metric.js';

const moment = { now: new Date('2026-11-23T12:00:00Z'), timezone: null };
const table = { schemaName: 'main', tableName: 'sales' };
const column = (columnName: string) => ({ ...table, columnName });
const datamart = {
  tables: [
    {
      ...table,
      isHide: false,
      columns: [
        { columnName: 'region', datatype: 'VARCHAR', isHide: false },
        { columnName: 'margin', datatype: 'INTEGER', isHide: true },
      ],
    },
  ],
} as unknown as Datamart;

/** A metric of the host that names a column which the datamart does not have any more. */
const stored: VisualDefinition = {
  kind: 'visual',
  chart: { type: 'bar' },
  from: table,
  dimensions: [{ name: 'Region', column: column('region') }],
  measures: [{ name: 'Margin', aggregate: 'SUM', column: column('secret_margin') }],
  filters: [],
  rlsVariables: [],
  underlying: [],
  drillPath: [],
  sort: [],
  limit: null,
};
const faultsOf = (parts: GuestDefinition) =>
  guestFaults({ parts, whole: { ...stored, ...(parts as object) }, before: stored }, datamart, moment);

test('faults of the stored metric are not among those of the guest, who sent another part', () => {
  expect(faultsOf({ chart: { type: 'line' } })).toEqual({
    sent: [],
    stored: ['measures[0].column: the datamart has no column main.sales.secret_margin'],
  });
  const { sent, stored: earlier } = faultsOf({ sort: [{ name: 'Nothing', direction: 'ASC' }] });
  expect(sent).toEqual(['sort[0].name: no dimension or measure "Nothing"']);
  expect(earlier).toHaveLength(1);
});

test('a part that the guest sent is the fault of the guest, also if the stored metric had the same fault', () => {
  const { sent, stored: earlier } = faultsOf({ measures: stored.measures as never });
  expect(sent).toEqual(['measures[0].column: the datamart has no column main.sales.secret_margin']);
  expect(earlier).toEqual([]);
});

test('a hidden column is reported as missing, if the guest names it', () => {
  const { sent } = faultsOf({ dimensions: [{ name: 'M', column: column('margin') }] });
  expect(sent).toEqual(['dimensions[0].column: the datamart has no column main.sales.margin']);
});

test('a stored fault stays one of the stored metric, if a part before it is removed', () => {
  const before: VisualDefinition = {
    ...stored,
    measures: [{ name: 'Rows', aggregate: 'COUNT' }],
    drillPath: [{ name: 'Margin', column: column('secret_margin') }],
    underlying: [column('region'), column('secret_margin')],
  };
  const whole = { ...before, underlying: [column('secret_margin')] };
  const faults = guestFaults({ parts: { sort: [] }, whole, before }, datamart, moment);
  expect(faults.sent).toEqual([]);
  expect(faults.stored).toEqual([
    'drillPath[0].column: the datamart has no column main.sales.secret_margin',
    'underlying[0]: the datamart has no column main.sales.secret_margin',
  ]);
});

const open = { withoutBaseFilters: [table] };
const changed = (definition: MetricDefinition, parts: GuestDefinition): MetricDefinition =>
  changedDefinition(
    { ...hostMade, metricId: 'm', workspaceId: 'w', name: 'm', lineage: [], owner: null, definition },
    parts,
  );

test('a change of what an author’s metric reads ends its way out of base filters', () => {
  const limited = changed({ ...stored, ...open }, { limit: 10 });
  expect(limited).toEqual({ ...stored, limit: 10 });
  expect(limited).not.toHaveProperty('withoutBaseFilters');
});

test('a change of the chart alone keeps the rows that the author’s metric reads', () => {
  expect(changed({ ...stored, ...open }, { chart: { type: 'line' } })).toEqual({
    ...stored,
    ...open,
    chart: { type: 'line' },
  });
});
