/**
 * Faults of the ways between the tables of a metric: the engine joins two tables only where one way leads from one to the
 * other. For hosts alone: the ways may lead through tables that a guest may not know of.
 */
import { type Datamart, qualifiedName, type Relationship, sameTable, type TableRef } from '../datamart/datamart.js';
import { written } from './definition.js';
import { type MetricDefinition, testsOf } from './metric.js';

type Way = readonly Relationship[];

const otherEnd = ({ parent, child }: Relationship, table: TableRef): TableRef | undefined => {
  if (sameTable(parent, child)) return undefined;
  if (sameTable(parent, table)) return child;
  return sameTable(child, table) ? parent : undefined;
};

/** The shortest way along the relationships; undefined if there is none. */
const wayBetween = (relationships: readonly Relationship[], from: TableRef, to: TableRef): Way | undefined => {
  const reached: { readonly table: TableRef; readonly way: Way }[] = [{ table: from, way: [] }];
  for (const { table, way } of reached) {
    if (sameTable(table, to)) return way;
    for (const relationship of relationships) {
      const next = otherEnd(relationship, table);
      if (next === undefined || reached.some((seen) => sameTable(seen.table, next))) continue;
      reached.push({ table: next, way: [...way, relationship] });
    }
  }
  return undefined;
};

/** Up to two ways: the shortest, and one that avoids a part of it. */
const waysBetween = (relationships: readonly Relationship[], from: TableRef, to: TableRef): readonly Way[] => {
  const first = wayBetween(relationships, from, to);
  if (first === undefined) return [];
  for (const avoided of first) {
    const others = relationships.filter((relationship) => relationship !== avoided);
    const second = wayBetween(others, from, to);
    if (second !== undefined) return [first, second];
  }
  return [first];
};

const nameOf = (way: Way): string => way.map(({ relationshipName }) => relationshipName).join(', then ');

const faultOf = (relationships: readonly Relationship[], from: TableRef, to: TableRef): string | undefined => {
  const [first, second] = waysBetween(relationships, from, to);
  const ends = `from ${qualifiedName(from)} to ${qualifiedName(to)}`;
  if (first === undefined) return `no relationship leads ${ends}; add one to the datamart`;
  if (second === undefined) return undefined;
  return `two ways lead ${ends}: "${nameOf(first)}" and "${nameOf(second)}"; leave one of them in the datamart`;
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
