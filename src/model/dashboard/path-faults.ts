/**
 * Faults of the ways between the tables of a metric: the engine joins two tables only where one way leads from one to the
 * other. For hosts alone: the ways may lead through tables that a guest may not know of.
 */
import { type Datamart, qualifiedName, sameTable, type TableRef } from '../datamart/datamart.js';
import { findWay, type Way, type Ways } from '../datamart/ways.js';
import { written } from './definition.js';
import { type MetricDefinition, testsOf } from './metric.js';

const nameOf = (way: Way): string => way.map(({ relationshipName }) => relationshipName).join(', then ');

const faultOf = (datamart: Ways, from: TableRef, to: TableRef): string | undefined => {
  const found = findWay(datamart, from, to);
  const ends = `from ${qualifiedName(from)} to ${qualifiedName(to)}`;
  if (found.kind === 'none') return `no relationship leads ${ends}; add one to the datamart`;
  if (found.kind === 'one') return undefined;
  const [way, other] = found.ways;
  return `two ways lead ${ends}: "${nameOf(way)}" and "${nameOf(other)}"; leave one of them in the datamart`;
};

/** Returns the faults of one metric for this datamart. Tables that it lacks are no fault of a way. */
export const pathFaults = (definition: MetricDefinition, datamart: Datamart): readonly string[] => {
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
  const isThere = (table: TableRef): boolean => datamart.tables.some((one) => sameTable(one, table));
  return named.flatMap(({ place, column }) => {
    if (!isThere(from) || !isThere(column) || sameTable(from, column)) return [];
    const fault = faultOf(datamart, from, column);
    return fault === undefined ? [] : [`${place}: ${fault}`];
  });
};
