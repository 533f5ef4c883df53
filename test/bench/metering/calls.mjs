// The counter's own calls in a loop, since one percent of a query does not show in the time of a whole server.
import { randomBytes, randomUUID } from 'node:crypto';
import { createTag } from '../../../dist/platform/caches/tags.js';
import { openDatabase } from '../../../dist/platform/databases/database.js';
import { createSealer } from '../../../dist/platform/keys/sealing.js';
import { keepQuota } from '../../../dist/platform/limits/quota.js';
import { systemClock } from '../../../dist/platform/work/time.js';
import { migrate } from '../../../dist/service/store/migrations.js';
import { createStore } from '../../../dist/service/store/store.js';
import { createUsageCounter } from '../../../dist/service/usage/usage.js';

const of = {
  ...{ dataAppId: randomUUID(), clientId: 'LAX', userIdentifier: 'ann' },
  ...{ dashboardId: 'board--LAX', metricId: randomUUID() },
};

const log = {
  warn: ({ err }) => {
    throw err;
  },
};

/** Microseconds of this process's processor time for one, after a warm-up. */
const processorOf = async (times, work) => {
  for (let time = 0; time < times / 4; time += 1) await work();
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
};

/**
 * What one of each costs: a query of the source without its write, a kept answer, a cached token, and a write. A gateway
 * counts a token with less: it keeps no quota.
 */
export const measureCalls = async (place) => {
  const database = await openDatabase(place);
  try {
    await migrate(database.connect());
    const { add, hold, seat, flush } = createUsageCounter({
      ...{
        store: createStore(database.connect(), createSealer(randomBytes(32))),
        clock: systemClock,
        ids: { uuid: randomUUID },
      },
      ...{ tag: createTag(randomBytes(32)), log, keepQuota },
    });
    const query = async () => {
      await seat(of, {});
      const counted = await hold(of, 'sourceQueries', {});
      add(of, { sourceQueries: 1 });
      counted();
      add(of, { ms: 3 });
      add(of, { rows: 66, keptAnswers: 0 });
    };
    const kept = async () => {
      await seat(of, {});
      add(of, { rows: 66, keptAnswers: 1 });
    };
    const token = () => add(of, { logins: 1 });
    const write = async () => {
      token();
      await flush();
    };
    return {
      ...{ query: await processorOf(100_000, query), kept: await processorOf(100_000, kept) },
      ...{ token: await processorOf(100_000, token), write: await processorOf(400, write) },
    };
  } finally {
    await database.close();
  }
};
