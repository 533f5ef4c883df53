import type { Condition, Scalar } from './filter.js';
import type { Dimension, MetricDefinition, VisualDefinition } from './metric.js';
import { Refusal } from './refusal.js';

export type Click = { readonly columnName: string; readonly value: Scalar | null };

/** One metric after some clicks: the next dimensions of its drill path, and one condition for each click. */
export type Drilled = { readonly definition: MetricDefinition; readonly conditions: readonly Condition[] };

const refuse = (message: string): never => {
  throw new Refusal('INVALID_REQUEST_BODY', message, { reason: 'drill' });
};

const conditionOf = (dimension: Dimension, { value }: Click): Condition => {
  if (dimension.grain !== undefined || dimension.bucketWidth !== undefined) {
    refuse(`drill: "${dimension.name}" is grouped by grain or bucket, which cannot be drilled into yet.`);
  }
  return {
    column: dimension.column,
    predicate: value === null ? { kind: 'isNull' } : { kind: 'compare', operator: '=', value },
  };
};

/**
 * Each click adds `<dimension> = <value>` and moves on to the next dimension of the path. Only the dimension that is on
 * show can be clicked, so that no column comes from the browser.
 */
export const drill = (definition: MetricDefinition, clicks: readonly Click[]): Drilled => {
  if (clicks.length === 0) return { definition, conditions: [] };
  return definition.kind === 'visual'
    ? drillVisual(definition, clicks)
    : refuse('drill: custom SQL has no drill path.');
};

type DrilledVisual = Drilled & { readonly definition: VisualDefinition };

const drillVisual = (definition: VisualDefinition, clicks: readonly Click[]): DrilledVisual =>
  clicks.reduce<DrilledVisual>(
    ({ definition: shown, conditions }, click, index) => {
      const clicked = shown.dimensions.find(({ name }) => name === click.columnName);
      if (clicked === undefined) return refuse(`drill[${index}]: "${click.columnName}" is not a dimension on show.`);
      const next = definition.drillPath[index];
      if (next === undefined)
        return refuse(`drill[${index}]: the metric's drill path ends after ${definition.drillPath.length}.`);
      return {
        // Sort and limit are of the dimensions that the click has left.
        definition: { ...shown, dimensions: [next], sort: [], limit: null },
        conditions: [...conditions, conditionOf(clicked, click)],
      };
    },
    { definition, conditions: [] },
  );
