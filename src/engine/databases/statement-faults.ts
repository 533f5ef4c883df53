/** Which errors of a database mean that it refuses the statement itself: its names, functions or types, whatever the rows are. */
import type { DatasourceType } from '../../domain/organization.js';

const codes: Readonly<Record<Exclude<DatasourceType, 'DUCKDB'>, ReadonlySet<string>>> = {
  // SQLSTATEs: undefined column or function, ambiguous function, grouping, datatype mismatch, no such cast, unknown type.
  POSTGRES: new Set(['42703', '42883', '42725', '42803', '42804', '42846', '42P18', '42704', '42P20']),
  MYSQL: new Set([
    'ER_BAD_FIELD_ERROR',
    'ER_SP_DOES_NOT_EXIST',
    'ER_INVALID_GROUP_FUNC_USE',
    'ER_WRONG_FIELD_WITH_GROUP',
    'ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT',
    'ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION',
    'ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION',
  ]),
  // Number of arguments, type of an argument, unknown function or column, types that differ, aggregates in aggregates.
  CLICKHOUSE: new Set(['42', '43', '46', '47', '53', '184', '215', '386']),
};

const codeOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';

/** DuckDB's driver gives its errors no code: the kind is the first word of the text. */
const isBinderError = (cause: unknown): boolean =>
  cause instanceof Error && /^(Binder|Catalog) Error:/.test(cause.message);

export const isStatementFault = (type: DatasourceType, cause: unknown): boolean =>
  type === 'DUCKDB' ? isBinderError(cause) : codes[type].has(codeOf(cause));
