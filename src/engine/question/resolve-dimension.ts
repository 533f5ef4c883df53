import type { Dimension, TimeGrain } from '../../model/dashboard/metric.js';
import type { ColumnRef } from '../../model/datamart/datamart.js';
import { columnName } from '../dialect/catalog.js';
import type { Bound, Column } from '../dialect/dialect.js';
import { refuseQuery } from '../dialect/refuse.js';
import { isNumeric, isTemporal } from '../dialect/sql-type.js';
import { bindScalar, greatestWidth } from '../plan/values.js';

export type ResolvedDimension = {
  readonly name: string;
  readonly column: Column;
  readonly grain: TimeGrain | null;
  readonly bucketWidth: Bound | null;
  /** Null until fitBuckets chose a width. */
  readonly bucketCount: number | null;
};

/** Throws METRIC_QUERY_ERROR where the column's type cannot be grouped this way. */
export const resolveDimension = (dimension: Dimension, columnOf: (ref: ColumnRef) => Column): ResolvedDimension => {
  const column = columnOf(dimension.column);
  const { name, grain, bucketWidth, bucketCount } = dimension;
  const plain = { name, column, grain: null, bucketWidth: null, bucketCount: null };
  if (grain !== undefined && !isTemporal(column.type)) {
    refuseQuery(
      `Dimension ${name} has a time grain, but ${columnName(column.ref)} holds no dates.`,
      'grain-without-date',
    );
  }
  if (bucketWidth === undefined && bucketCount === undefined) return { ...plain, grain: grain ?? null };
  if (grain !== undefined || !isNumeric(column.type) || (bucketWidth !== undefined && bucketCount !== undefined)) {
    refuseQuery(
      `Dimension ${name}: bucketWidth and bucketCount belong on a column of numbers, one of them, without a time grain.`,
      'bucket-invalid',
    );
  }
  if (bucketCount === undefined) return { ...plain, bucketWidth: bindWidth(name, column, bucketWidth ?? 0) };
  if (!Number.isSafeInteger(bucketCount) || bucketCount < 1) {
    refuseQuery(`Dimension ${name}: bucketCount must be a whole number, 1 or above.`, 'bucket-invalid');
  }
  return { ...plain, bucketCount };
};

/** The width by its decimal digits, for every type of column. */
export const bindWidth = (name: string, { ref, type }: Column, width: number): Bound => {
  if (type.kind === 'float' && width > 0 && Number.isFinite(width)) {
    return { text: plainDigits(width) ?? String(width), cast: 'DOUBLE' };
  }
  const text = plainDigits(width);
  const [whole = '', fraction = ''] = (text ?? '').split('.');
  if (!(width > 0) || whole === '' || whole.length + fraction.length > greatestWidth(type)) {
    return refuseQuery(
      `Dimension ${name}: bucketWidth must be a number above 0 of at most ${greatestWidth(type)} digits.`,
      'bucket-invalid',
    );
  }
  return bindScalar(text ?? '', {
    ref,
    type: { ...type, kind: 'decimal', cast: type.kind === 'decimal' ? type.cast : '' },
  });
};

/** The decimal places that every database keeps. */
const greatestDigits = 30;

/** Decimal notation without an exponent. */
const plainDigits = (value: number): string | undefined => {
  const text = String(value);
  if (!text.includes('e')) return Number.isFinite(value) ? text : undefined;
  const digits = value < 1 ? value.toFixed(greatestDigits).replace(/0+$/, '') : BigInt(value).toString();
  return Number(digits) === value ? digits : undefined;
};
