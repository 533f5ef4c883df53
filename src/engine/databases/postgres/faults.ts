import {
  conflictStates,
  fullStates,
  inputStates,
  lateState,
  lostStates,
} from '../../../platform/databases/database-faults.js';
import { codeOf, createFaultOf, type FaultOf, isPlainError } from '../../connections/driver-faults.js';

/** SQLSTATEs. */
const faultOfCode = createFaultOf({
  lost: lostStates,
  busy: [...fullStates, ...conflictStates, ...inputStates],
  late: [lateState],
  // Undefined column, undefined table.
  names: ['42703', '42P01'],
  // Undefined function, ambiguous function, grouping, types that differ, no such cast, unknown type.
  statement: ['42883', '42725', '42803', '42804', '42846', '42P18', '42704', '42P20'],
  credentials: ['28P01', '28000'],
  database: ['3D000', '42501', '57P04'],
});

/** The driver's name for an error of the server. Without a code, it is a message of an unknown kind. */
const isUnknownMessage = (cause: unknown): boolean =>
  cause instanceof Error && cause.name === 'error' && codeOf(cause) === '';

export const faultOf: FaultOf = (cause) =>
  faultOfCode(cause) ?? (isPlainError(cause) || isUnknownMessage(cause) ? 'lost' : undefined);
