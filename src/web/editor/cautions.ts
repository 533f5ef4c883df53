/** What the service will say about a draft: faults that it refuses, and cases that only the database decides. */
import type { ColumnRef } from '../../model/datamart/datamart.js';
import { areJoinable, type Catalogue, findField } from './catalogue.js';
import { leavesOf } from './conditions.js';
import type { Draft } from './draft.js';

export type Caution = {
  /** JSON path in the definition. */
  readonly path: string;
  readonly code:
    | 'empty'
    | 'unknown-field'
    | 'not-joined'
    /** The type of a computed field, and what an expression means, is known to the database only. */
    | 'database-decides'
    /** A comparison shows only where the metric has no groups. */
    | 'comparison-unused';
  /** Whether the service refuses the draft. Otherwise it may. */
  readonly isFault: boolean;
};

type Placed = { readonly path: string; readonly column: ColumnRef };

const placed = (list: string, items: readonly { readonly column?: ColumnRef | undefined }[]): readonly Placed[] =>
  items.flatMap(({ column }, index) => (column === undefined ? [] : [{ path: `${list}[${index}].column`, column }]));

const columnCautions = ({ from }: Draft, catalogue: Catalogue, { path, column }: Placed): readonly Caution[] => {
  const field = findField(catalogue, column);
  if (field === undefined) return [{ path, code: 'unknown-field', isFault: true }];
  if (from !== null && !areJoinable(catalogue, from, column)) return [{ path, code: 'not-joined', isFault: true }];
  return field.type === 'other' ? [{ path, code: 'database-decides', isFault: false }] : [];
};

/** Returns the faults and cautions of a draft. Without any, the service runs it. */
export const cautionsOf = (draft: Draft, catalogue: Catalogue): readonly Caution[] => {
  const { dimensions, measures, drillPath, filters, comparison, kept } = draft;
  const nested = (kept.where ?? []).flatMap((tree) => leavesOf(tree));
  const columns = [
    ...placed('dimensions', dimensions),
    ...placed('measures', measures),
    ...placed('drillPath', drillPath),
    ...placed('where.all', [...filters, ...nested]),
    ...(comparison === null ? [] : [{ path: 'comparison.column', column: comparison.column }]),
  ];
  return [
    ...(dimensions.length + measures.length === 0 ? [{ path: 'measures', code: 'empty', isFault: true } as const] : []),
    ...columns.flatMap((one) => columnCautions(draft, catalogue, one)),
    ...measures.flatMap(({ expression }, index) =>
      expression === undefined
        ? []
        : [{ path: `measures[${index}].expression`, code: 'database-decides', isFault: false } as const],
    ),
    ...(comparison !== null && dimensions.length > 0
      ? [{ path: 'comparison', code: 'comparison-unused', isFault: false } as const]
      : []),
  ];
};
