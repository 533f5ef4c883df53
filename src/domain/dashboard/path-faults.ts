/**
 * Faults of the ways between the tables of a metric: the engine joins two tables only where one way leads from one to the
 * other. For hosts alone: the ways may lead through tables that a guest may not know of.
 */
import { type Datamart, qualifiedName, sameTable, type TableRef } from '../datamart/datamart.js';
import { bypassOf, shortestWay, type Way } from '../datamart/ways.js';
import { written } from './definition.js';
import { type MetricDefinition, testsOf } from './metric.js';

const nameOf = (way: Way): string => way.map(({ relationshipName }) => relationshipName).join(', then ');

const faultOf = (relationships: Way, from: TableRef, to: TableRef): string | undefined => {
  const way = shortestWay(relationships, from, to);
  const ends = `from ${qualifiedName(from)} to ${qualifiedName(to)}`;
  if (way === undefined) return `no relationship leads ${ends}; add one to the datamart`;
  const bypass = bypassOf(relationships, way, from, to);
  if (bypass === undefined) return undefined;
  return `two ways lead ${ends}: "${nameOf(way)}" and "${nameOf(bypass.way)}"; leave one of them in the datamart`;
};

/** Returns the faults of one metric for this datamart. Tables that it lacks are no fault of a way. */
export const pathFaults = (definition: MetricDefinition, { tables, relationships }: Datamart): readonly string[] => {
  if (definition.kind === 'sql') return [];
  const { from, dimensions, drillPath, measures, where } = definition;
  const named = [
    ...dimensions.map(({ name, column }, index) => ({ place: `dimensions[${index}] ${JSON.stringify(name)}`, column })),
    ...drillPath.map(({ name, column }, index) => ({ place: `drillPath[${index}] ${JSON.stringify(name)}`, column })),
    ...measures.flatMap(({ name, column }, index) =>
      column === undefined ? [] : [{ place: `measures[${index}] ${JSON.stringify(name)}`, column }],
    ),
    ...testsOf(where).map(({ column }) => ({ place: `where ${written(column)}`, column })),
  ];
  const isThere = (table: TableRef): boolean => tables.some((one) => sameTable(one, table));
  return named.flatMap(({ place, column }) => {
    if (!isThere(from) || !isThere(column) || sameTable(from, column)) return [];
    const fault = faultOf(relationships, from, column);
    return fault === undefined ? [] : [`${place}: ${fault}`];
  });
};
