// A morning on the real ledger with a clock of its own: thousands of schedules of one moment, planned and sent second by
// second. Used by the test of fairness and by the bench.

/** Inserts `count` schedules of a tenant that are due at `moment`. Returns their ids, which are the same in each run. */
export const insertSchedules = async (store, { dashboardId, dataAppId, clientId, count, moment }) => {
  const ids = Array.from({ length: count }, (_, index) => `${clientId}/${index}`);
  await store.transaction(async (inner) => {
    for (const id of ids) {
      await inner.schedules.insert({
        ...{ id, dashboardId, openedId: 'delays', name: 'Each morning', format: 'link', catchUp: 'once' },
        owner: { dataAppId, clientId, userIdentifier: 'ann' },
        recurrence: { every: 'day', at: '08:00', timezone: 'UTC' },
        ...{ isPaused: false, nextAt: moment, createdAt: moment, mutedUntil: null, alert: null, alertState: null },
        ...{ channel: null, recipients: null, dashboardFilter: {}, metricIds: null },
      });
    }
  });
  return ids;
};

/**
 * Sends for `seconds` from the moment on, at most `perSecond` messages each second and `perMinute` of a tenant. Returns
 * the second at which each schedule's message left, and the milliseconds of each claim.
 */
export const sendMorning = async (store, { moment, seconds, perSecond, perMinute }) => {
  const sent = [];
  const claimMs = [];
  for (let second = 0; second < seconds; second += 1) {
    const now = new Date(moment.getTime() + second * 1000);
    const leaseId = `lease-${second}`;
    const since = performance.now();
    const claimed = await store.deliveries.claim({
      ...{ now, leaseId, leasedUntil: new Date(now.getTime() + 900_000), limit: perSecond },
      perClient: { count: perMinute, since: new Date(now.getTime() - 60_000) },
    });
    claimMs.push(performance.now() - since);
    for (const { id, scheduleId, clientId } of claimed) {
      await store.deliveries.finish(id, leaseId, { state: 'sent', at: now });
      sent.push({ scheduleId, clientId, second });
    }
  }
  return { sent, claimMs };
};

/** The most messages of one tenant in any sixty seconds. */
export const mostInAMinute = (sent, clientId) => {
  const seconds = sent.filter((each) => each.clientId === clientId).map(({ second }) => second);
  return seconds.reduce((most, from) => Math.max(most, seconds.filter((s) => s >= from && s < from + 60).length), 0);
};
