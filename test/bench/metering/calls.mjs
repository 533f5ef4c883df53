// The counter's own calls in a loop, since one percent of a query does not show in the time of a whole server.
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { createUsageBatches } from '../../../dist/model/usage-batches.js';
import { createShortTag } from '../../../dist/platform/caches/tags.js';
import { openDatabase } from '../../../dist/platform/databases/database.js';
import { createUsageJournal } from '../../../dist/platform/files/usage-journal.js';
import { createSealer } from '../../../dist/platform/keys/sealing.js';
import { keepQuota } from '../../../dist/platform/limits/quota.js';
import { systemClock } from '../../../dist/platform/work/time.js';
import { migrate } from '../../../dist/service/store/migrations.js';
import { createStore } from '../../../dist/service/store/store.js';
import { mostReportedLogins } from '../../../dist/service/usage/contract.js';
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

const ids = { uuid: randomUUID };

/** As the gateway counts: it knows neither data app nor quota. */
const gateway = createUsageBatches({
  ...{ clock: systemClock, ids, mostCells: mostReportedLogins },
  hand: async () => {},
});
const token = () => gateway.add({ ...of, dataAppId: '', dashboardId: null, metricId: null }, { logins: 1 });

/**
 * What one of each costs: a query of the source with its line in the journal, a kept answer, a cached token at the gateway,
 * and a write of what was counted in a second. A file of the journal has a hundred lines.
 */
export const measureCalls = async (place, folder) => {
  const database = await openDatabase(place);
  try {
    await migrate(database.connect());
    const writer = randomUUID();
    const journal = createUsageJournal({ folder, mark: 'bench', isAlone: true, clock: systemClock, log });
    let queries = 0;
    const { add, hold, seat, flush } = createUsageCounter({
      ...{
        store: createStore(database.connect(), createSealer(randomBytes(32))),
        clock: systemClock,
        ids: { uuid: () => writer },
      },
      ...{ shortTag: createShortTag(randomBytes(32)), log, keepQuota, journal },
    });
    const query = async () => {
      await seat(of, {});
      const counted = await hold(of, 'sourceQueries', {});
      add(of, { sourceQueries: 1 });
      counted();
      add(of, { ms: 3 });
      add(of, { rows: 66, keptAnswers: 0 });
      queries += 1;
      if (queries % 100 === 0) await journal.forget({ writer, number: 1 });
    };
    const kept = async () => {
      await seat(of, {});
      add(of, { rows: 66, keptAnswers: 1 });
    };
    const write = async () => {
      add(of, { logins: 1, sourceQueries: 1 });
      await flush();
    };
    const measured = {
      ...{ query: await processorOf(100_000, query), kept: await processorOf(100_000, kept) },
      ...{ token: await processorOf(100_000, token), write: await processorOf(400, write) },
    };
    if ((await readdir(folder)).length > 0) throw new Error('the journal was not emptied');
    return measured;
  } finally {
    await database.close();
  }
};
