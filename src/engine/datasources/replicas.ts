/**
 * Reads replicas of a datasource as long as they are not too far behind, and else the server itself. How far a replica
 * is behind is told by no clock of a server: it has seen all that the primary had at a moment of ours.
 */
import { handled } from '../../model/handled.js';
import { isFile } from '../../model/organization.js';
import { findUnavailable } from '../../model/unavailable.js';
import { closeAll } from '../../platform/work/close-all.js';
import type { Timing } from '../../platform/work/time.js';
import {
  NamesRefused,
  type OpenDatabase,
  type OpenedDatabase,
  type Sink,
  type StreamPosition,
} from '../connections/database.js';

/** How long a look at the positions holds. A dead replica is tried again after it. */
const checkMs = 1000;
const usualLagSeconds = 10;
/** Of the primary's positions, as many are kept as looks fit in the greatest lag. */
const mostMoments = 3700;

type Moment = { readonly atMs: number; readonly position: bigint };

/** `opened`: opens it once, and again if that failed. */
type Replica = { readonly opened: () => Promise<OpenedDatabase>; behindMs: number };

const reopening = (open: () => Promise<OpenedDatabase>): Replica['opened'] => {
  let opening: Promise<OpenedDatabase> | undefined;
  return () => {
    opening ??= handled(
      open().catch((cause: unknown) => {
        opening = undefined;
        throw cause;
      }),
    );
    return opening;
  };
};

/** How far behind `at` is: since the latest moment whose position it has. */
const behindOf = (moments: readonly Moment[], at: bigint, nowMs: number): number => {
  const seen = moments.findLast(({ position }) => position <= at);
  return seen === undefined ? Number.POSITIVE_INFINITY : nowMs - seen.atMs;
};

const positionOf = async (database: OpenedDatabase): Promise<StreamPosition> => {
  if (database.position === undefined) throw new TypeError('a kind of database without replicas');
  return database.position();
};

/** Looks at all positions, at most once each second. Throws nothing: a server that does not answer is too far behind. */
const createWatch = (primary: OpenedDatabase, replicas: readonly Replica[], { nowMs }: Pick<Timing, 'nowMs'>) => {
  const moments: Moment[] = [];
  let checkedMs = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | undefined;
  const check = async (): Promise<void> => {
    const atMs = nowMs();
    const { system, at } = await positionOf(primary);
    moments.push({ atMs, position: at });
    if (moments.length > mostMoments) moments.shift();
    const look = async (replica: Replica): Promise<void> => {
      replica.behindMs = Number.POSITIVE_INFINITY;
      const found = await positionOf(await replica.opened());
      // Another server's rows would be somebody else's.
      if (found.isReplica && found.system === system) replica.behindMs = behindOf(moments, found.at, nowMs());
    };
    await Promise.allSettled(replicas.map(look));
  };
  return async (): Promise<void> => {
    if (nowMs() - checkedMs < checkMs) return;
    checking ??= handled(
      check()
        .catch(() => {
          for (const replica of replicas) replica.behindMs = Number.POSITIVE_INFINITY;
        })
        .finally(() => {
          checkedMs = nowMs();
          checking = undefined;
        }),
    );
    await checking;
  };
};

/** Whether the primary may still answer: the replica does not, or lacks a name that it will have. */
const mayPrimaryAnswer = (cause: unknown): boolean =>
  cause instanceof NamesRefused || findUnavailable(cause) !== undefined;

/** Asks the chosen replica first, and the primary where that fails and nothing was answered yet. */
const readsOf = (
  primary: OpenedDatabase,
  choose: () => Promise<OpenedDatabase | undefined>,
): Pick<OpenedDatabase, 'run' | 'stream'> => ({
  run: async (...asked) => {
    const replica = await choose();
    if (replica === undefined) return primary.run(...asked);
    try {
      return await replica.run(...asked);
    } catch (cause) {
      if (!mayPrimaryAnswer(cause)) throw cause;
      return primary.run(...asked);
    }
  },
  stream: async (statement, tenant, sink, running) => {
    const replica = await choose();
    if (replica === undefined) return primary.stream(statement, tenant, sink, running);
    let hasBegun = false;
    const passOn: Sink = (batch) => {
      hasBegun = true;
      return sink(batch);
    };
    try {
      return await replica.stream(statement, tenant, passOn, running);
    } catch (cause) {
      // The reader has rows of the replica, and the primary may have others.
      if (hasBegun || !mayPrimaryAnswer(cause)) throw cause;
      return primary.stream(statement, tenant, sink, running);
    }
  },
});

/** Opens the datasource with its replicas. `open` opens one server. */
export const openWithReplicas =
  (open: OpenDatabase, timing: Pick<Timing, 'nowMs'>): OpenDatabase =>
  async (datasource, options) => {
    if (isFile(datasource) || (datasource.replicas ?? []).length === 0) return open(datasource, options);
    const { replicas: addresses = [], maxLagSeconds = usualLagSeconds, ...server } = datasource;
    const primary = await open(server, options);
    let isClosed = false;
    const replicas = addresses.map(({ host, port }): Replica => {
      const opened = reopening(async () => {
        if (isClosed) throw new Error('the datasource was closed');
        return open({ ...server, host, port }, options);
      });
      return { opened, behindMs: Number.POSITIVE_INFINITY };
    });
    const look = createWatch(primary, replicas, timing);
    let turn = 0;
    /** A replica that is near enough, each in its turn. */
    const choose = async (): Promise<OpenedDatabase | undefined> => {
      await look();
      const near = replicas.filter(({ behindMs }) => behindMs <= maxLagSeconds * 1000);
      turn += 1;
      return near[turn % near.length]?.opened();
    };
    return {
      ...primary,
      ...readsOf(primary, choose),
      close: async () => {
        isClosed = true;
        const opened = await Promise.allSettled(replicas.map((replica) => replica.opened()));
        const closings = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value.close] : []));
        await closeAll([...closings, primary.close]);
      },
    };
  };
