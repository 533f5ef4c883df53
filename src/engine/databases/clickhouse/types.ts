import { bareClickHouseType, datatypeOf } from '../../../model/datamart/datatypes.js';
import { otherType, type SqlType } from '../../dialect/sql-type.js';

/** Whether the column may hold NULL. */
export const isNullableType = (name: string): boolean => /^(?:LowCardinality\()?Nullable\(/.test(name);

/** The collation of FixedString, whose `=` ignores trailing NULs. */
export const padded = 'padded';

/** Translates a type. A DateTime is an instant, whatever zone it is displayed in. */
export const parseClickHouseType = (name: string): SqlType => {
  const datatype = datatypeOf('CLICKHOUSE', name) ?? otherType;
  return /^FixedString\(/.test(bareClickHouseType(name)) ? { ...datatype, collation: padded } : datatype;
};
