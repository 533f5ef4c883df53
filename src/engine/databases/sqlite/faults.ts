import { createFaultOf } from '../../connections/driver-faults.js';

/** An error of SQLite with its code. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError';
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** The code of a statement whose process ended by itself. */
export const processEnded = 'SQLITE_PROCESS_ENDED';

/** The driver's names of SQLite's results. Another process that writes holds a lock; a process of ours that ended is lost. */
export const faultOf = createFaultOf({
  lost: [processEnded],
  busy: ['SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_LOCKED', 'SQLITE_NOMEM', 'SQLITE_FULL'],
  late: ['SQLITE_LATE'],
  database: ['SQLITE_CANTOPEN', 'SQLITE_NOTADB', 'SQLITE_CORRUPT'],
  names: ['SQLITE_NO_SUCH_NAME'],
});
