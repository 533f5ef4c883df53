import { createFaultOf, type FaultOf } from '../../connections/driver-faults.js';

/** Names or numbers of MariaDB and MySQL. */
const faultOfCode = createFaultOf({
  // A shutdown, a killed connection, an idle one that the server closed, and packets that could not be read or written. No
  // server has an error of the number 0: the answer is damaged.
  lost: ['PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT', 0, 1053, 1158, 1159, 1160, 1161, 1927, 4031],
  busy: [
    // Connections: all, of this user, of this user's hour. Prepared statements, threads.
    ...[1040, 1203, 1226, 1461, 1135],
    // Disk, memory, a full temporary table.
    ...[1021, 1037, 1041, 1114],
    // Locks.
    ...[1205, 1213],
    // A node of a cluster that is not ready, a server that is offline for maintenance.
    ...[1047, 3032, 3168],
  ],
  late: [1969, 3024],
  // Unknown column, unknown table, a view of them, columns and tables that the user may not read.
  names: ['ER_BAD_FIELD_ERROR', 'ER_NO_SUCH_TABLE', 1356, 1143, 1142],
  statement: [
    'ER_SP_DOES_NOT_EXIST',
    'ER_INVALID_GROUP_FUNC_USE',
    'ER_WRONG_FIELD_WITH_GROUP',
    'ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT',
    // Types that an operation does not take. The driver has other names for these numbers of MariaDB.
    ...[4078, 4079],
  ],
  credentials: [
    'ER_ACCESS_DENIED_ERROR',
    'ER_ACCESS_DENIED_NO_PASSWORD_ERROR',
    'ER_HOST_NOT_PRIVILEGED',
    'ER_HOST_IS_BLOCKED',
    'ER_NOT_SUPPORTED_AUTH_MODE',
  ],
  database: ['ER_BAD_DB_ERROR', 'ER_DBACCESS_DENIED_ERROR'],
});

/** The driver marks what ended the connection as fatal, also an answer that it could not parse. */
const isFatal = (cause: unknown): boolean =>
  cause instanceof Error && 'fatal' in cause && cause.fatal === true && !('sqlState' in cause);

export const faultOf: FaultOf = (cause) => faultOfCode(cause) ?? (isFatal(cause) ? 'lost' : undefined);
