import type { StreamPosition } from '../../connections/database.js';
import type { Ask } from '../../dialect/source-tables.js';

/** A replica's position is what it has replayed, so what its questions see. */
const query = `SELECT s.system_identifier, r.is_replica, pg_catalog.pg_wal_lsn_diff(
  CASE WHEN r.is_replica THEN pg_catalog.pg_last_wal_replay_lsn() ELSE pg_catalog.pg_current_wal_lsn() END, '0/0')
FROM pg_catalog.pg_control_system() AS s, (SELECT pg_catalog.pg_is_in_recovery() AS is_replica) AS r`;

export const readPosition = async (ask: Ask): Promise<StreamPosition> => {
  const [system, isReplica, at] = (await ask(query))[0] ?? [];
  return { system: String(system), isReplica: isReplica === true, at: BigInt(String(at ?? 0)) };
};
