/** A metric whose tables no single way joins is refused when it is written. */
import { expect, it } from 'vitest';
import { pathFaults } from '../../src/model/dashboard/path-faults.js';
import { columnRef, datamart, metric, relationship, table } from '../engine/world.js';

const tables = ['invoices', 'projects', 'people', 'alone'].map((name) =>
  table(name, { id: 'BIGINT', name: 'VARCHAR' }),
);
const direct = relationship('invoices.project', 'projects.id');
const mart = (relationships: readonly ReturnType<typeof relationship>[]) =>
  datamart({ tenancy: null, tables, relationships });
const byProject = metric('invoices', {
  dimensions: [{ name: 'project', column: columnRef('projects.name') }],
  measures: [{ name: 'n', aggregate: 'COUNT' }],
});

it('one way is no fault, whatever its length', () => {
  expect(pathFaults(byProject, mart([direct]))).toEqual([]);
  const long = [relationship('invoices.owner', 'people.id'), relationship('people.project', 'projects.id')];
  expect(pathFaults(byProject, mart(long))).toEqual([]);
});

it('no way is a fault with its place, also by a relationship of a table with itself', () => {
  const fault =
    'dimensions[0] "project": no relationship leads from main.invoices to main.projects; add one to the datamart';
  expect(pathFaults(byProject, mart([]))).toEqual([fault]);
  expect(pathFaults(byProject, mart([relationship('projects.parent', 'projects.id')]))).toEqual([fault]);
});

// metabase#3475: a key of two columns could not be modelled. As two relationships it is two ways, which are named.
// cube#3692: one table could not be joined twice, by two keys.
it('two ways are a fault that names both', () => {
  const around = [relationship('invoices.owner', 'people.id'), relationship('people.project', 'projects.id')];
  const composite = relationship('invoices.code', 'projects.code');
  expect(pathFaults(byProject, mart([direct, ...around]))).toEqual([
    'dimensions[0] "project": two ways lead from main.invoices to main.projects: "invoices.project-projects.id" and "invoices.owner-people.id, then people.project-projects.id"; leave one of them in the datamart',
  ]);
  expect(pathFaults(byProject, mart([direct, composite]))[0]).toContain(
    '"invoices.project-projects.id" and "invoices.code-projects.code"',
  );
});

it('measures, drill paths and conditions are looked at too', () => {
  const definition = metric('invoices', {
    measures: [{ name: 'n', aggregate: 'COUNT', column: columnRef('alone.id') }],
    drillPath: [{ name: 'd', column: columnRef('alone.name') }],
    where: { column: columnRef('alone.name'), predicate: { kind: 'isNull' } },
  });
  expect(pathFaults(definition, mart([])).map((fault) => fault.split(':')[0])).toEqual([
    'drillPath[0] "d"',
    'measures[0] "n"',
    'where main.alone.name',
  ]);
});
