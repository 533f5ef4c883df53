/**
 * SQLSTATEs of PostgreSQL by their meaning, for the metadata and for datasources alike. They are passing faults: the same
 * statement may succeed later.
 */

/**
 * The classes of connections and of an administrator's command: a crash, a shutdown, a start, a session's time limit.
 * PgBouncer reports its own limits by 08P01.
 */
export const lostStates = [
  ...['08000', '08001', '08003', '08004', '08006', '08007', '08P01'],
  ...['57P01', '57P02', '57P03', '57P05'],
] as const;

/** Disk, memory and connections. */
export const fullStates = ['53000', '53100', '53200', '53300'] as const;

/** Locks and conflicts, also with the recovery of a standby: the server ended one of two that waited for each other. */
export const conflictStates = ['40001', '40P01', '55P03'] as const;

/** Input and output. */
export const inputStates = ['58000', '58030'] as const;

/** The statement exceeded its time limit. */
export const lateState = '57014';
