import {
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { AnswerColumn, Cell } from '../../../model/query/engine.js';
import { dateCell, decimalCell, floatCell, integerCell } from '../../dialect/cells.js';
import { floatType, type SqlType } from '../../dialect/sql-type.js';

const timestampTypes = [
  DuckDBTimestampValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
];

const later: readonly DuckDBValue[] = timestampTypes.map(({ PosInf }) => PosInf);

const isLater = (value: DuckDBValue): boolean => later.some((one) => String(one) === String(value));

const infinityCell = (isPositive: boolean): Cell => (isPositive ? 'Infinity' : '-Infinity');

/**
 * A value as the engine answers it. Integers beyond 2^53, decimals that a number cannot represent, NaN and the
 * infinities are text.
 */
export const cellOf = (value: DuckDBValue): Cell => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return floatCell(value);
  if (typeof value === 'bigint') return integerCell(value);
  if (value instanceof DuckDBDecimalValue) return decimalCell(value.toString());
  if (value instanceof DuckDBDateValue)
    return value.isFinite ? dateCell(value.toString()) : infinityCell(value.days > 0);
  if (value instanceof DuckDBTimestampTZValue) {
    return cellOf(new DuckDBTimestampValue(value.micros));
  }
  for (const type of timestampTypes) {
    if (value instanceof type) return value.isFinite ? dateCell(value.toString()) : infinityCell(isLater(value));
  }
  return value.toString();
};

const dataTypes: ReadonlyMap<DuckDBTypeId, AnswerColumn['dataType']> = new Map([
  ...[
    DuckDBTypeId.TINYINT,
    DuckDBTypeId.SMALLINT,
    DuckDBTypeId.INTEGER,
    DuckDBTypeId.BIGINT,
    DuckDBTypeId.HUGEINT,
    DuckDBTypeId.UTINYINT,
    DuckDBTypeId.USMALLINT,
    DuckDBTypeId.UINTEGER,
    DuckDBTypeId.UBIGINT,
    DuckDBTypeId.UHUGEINT,
    DuckDBTypeId.FLOAT,
    DuckDBTypeId.DOUBLE,
    DuckDBTypeId.DECIMAL,
  ].map((id): [DuckDBTypeId, AnswerColumn['dataType']] => [id, 'number']),
  ...[
    DuckDBTypeId.DATE,
    DuckDBTypeId.TIMESTAMP,
    DuckDBTypeId.TIMESTAMP_S,
    DuckDBTypeId.TIMESTAMP_MS,
    DuckDBTypeId.TIMESTAMP_NS,
    DuckDBTypeId.TIMESTAMP_TZ,
  ].map((id): [DuckDBTypeId, AnswerColumn['dataType']] => [id, 'date']),
  [DuckDBTypeId.BOOLEAN, 'boolean'],
]);

export const valueTypeOf = ({ typeId }: DuckDBType): SqlType | null =>
  typeId === DuckDBTypeId.FLOAT || typeId === DuckDBTypeId.DOUBLE ? floatType : null;

export const dataTypeOf = (type: DuckDBType): AnswerColumn['dataType'] => dataTypes.get(type.typeId) ?? 'string';
