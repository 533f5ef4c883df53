/** Tells the other processes of the installation what runs in this one: with a service in it, and in a gateway alone. */
import { setTimeout } from 'node:timers/promises';
import type { Clock, Ids } from '../model/ports.js';
import type { Database } from '../platform/databases/database.js';
import type { Log } from '../platform/logs/log.js';
import { repeat, systemTiming } from '../platform/work/time.js';
import { type Board, type BoardParts, beatMs, createBoard } from '../service/running/board.js';
import { createRunningStore } from '../service/store/running.js';
import { schemaName, type Tables } from '../service/store/tables.js';

/** What runs in this process, and what it is called. */
export type Operated = Pick<BoardParts, 'running' | 'live' | 'self'> & {
  /** The time that all processes share. */
  readonly commonClock: Clock;
};

type Parts = { readonly operated: Operated; readonly database: Database; readonly ids: Ids; readonly log: Log };

/** What runs in this process and in others. Nobody shares an embedded database. */
export const openBoard = (store: BoardParts['store'], { operated, database, ids, log }: Parts): Board => {
  const { commonClock, ...own } = operated;
  const isShared = database.kind === 'postgres';
  return createBoard({ ...own, store, ids, log, clock: commonClock, isShared, pause: setTimeout });
};

/** Tells each second what runs, until it is closed. */
export const startTelling = ({ beat, leave }: Pick<Board, 'beat' | 'leave'>) => {
  const stop = repeat(systemTiming, beatMs, beat);
  return {
    close: async (): Promise<void> => {
      await stop();
      await leave();
    },
  };
};

/**
 * Tells what runs in a gateway alone. The service reads it where both have one database. The service makes the tables: until
 * they are there, nothing is told.
 */
export const startTellingOfGateway = (parts: Parts) => {
  const running = createRunningStore(parts.database.connect<Tables>().withSchema(schemaName));
  const board = openBoard({ running }, parts);
  const isShared = parts.database.kind === 'postgres';
  let isThere = false;
  const look = async (): Promise<void> => {
    try {
      isThere ||= await running.isThere();
    } catch (err) {
      parts.log.warn({ event: 'running.write_failed', err }, 'failed to tell the service what runs here; retrying');
    }
  };
  return startTelling({
    beat: async () => {
      if (isShared) await look();
      if (isThere) await board.beat();
    },
    leave: async () => {
      if (isThere) await board.leave();
    },
  });
};
