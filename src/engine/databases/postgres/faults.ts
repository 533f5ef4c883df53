import { codeOf, createFaultOf, type FaultOf, isPlainError } from '../../connections/driver-faults.js';

/** SQLSTATEs. */
const faultOfCode = createFaultOf({
  // The classes of connections and of an administrator's command: a crash, a shutdown, a start, a session's time limit.
  // PgBouncer reports its own limits by 08P01.
  lost: ['08000', '08001', '08003', '08004', '08006', '08007', '08P01', '57P01', '57P02', '57P03', '57P05'],
  // Disk, memory and connections. Locks and conflicts, also with the recovery of a standby. Input and output.
  busy: ['53000', '53100', '53200', '53300', '40001', '40P01', '55P03', '58000', '58030'],
  late: ['57014'],
  // Undefined column or function, ambiguous function, grouping, types that differ, no such cast, unknown type.
  statement: ['42703', '42883', '42725', '42803', '42804', '42846', '42P18', '42704', '42P20'],
  credentials: ['28P01', '28000'],
  database: ['3D000', '42501', '57P04'],
});

/** The driver's name for an error of the server. Without a code, it is a message of an unknown kind. */
const isUnknownMessage = (cause: unknown): boolean =>
  cause instanceof Error && cause.name === 'error' && codeOf(cause) === '';

export const faultOf: FaultOf = (cause) =>
  faultOfCode(cause) ?? (isPlainError(cause) || isUnknownMessage(cause) ? 'lost' : undefined);
