/** When a rollup is looked at again. */
import { describe, expect, it } from 'vitest';
import { calendar } from '../../src/delivery/calendar.js';
import type { RollupRefresh } from '../../src/model/datamart/datamart.js';
import { isRefreshDue } from '../../src/service/datamarts/refresh-times.js';

describe('the times at which a rollup is looked at', () => {
  const due = (refresh: Partial<RollupRefresh>, last: string, now: string): boolean =>
    isRefreshDue({ again: 1, ...refresh }, calendar, { last: new Date(last), now: new Date(now) });

  it('come each hour where nothing is said, otherwise as often as is said', () => {
    expect(due({}, '2026-03-02T05:00:00Z', '2026-03-02T05:59:59Z')).toBe(false);
    expect(due({}, '2026-03-02T05:00:00Z', '2026-03-02T06:00:00Z')).toBe(true);
    expect(due({ everyMinutes: 5 }, '2026-03-02T05:00:00Z', '2026-03-02T05:05:00Z')).toBe(true);
  });

  it('come at a time of day in its zone, once a day, also where the clock is set', () => {
    const at = { at: '06:00', timezone: 'Europe/Berlin' };
    expect(due(at, '2026-03-02T05:00:10Z', '2026-03-03T04:59:00Z')).toBe(false);
    expect(due(at, '2026-03-02T05:00:10Z', '2026-03-03T05:00:00Z')).toBe(true);
    // From 29 March, the clocks of Berlin are two hours ahead.
    expect(due(at, '2026-03-28T05:00:10Z', '2026-03-29T03:59:00Z')).toBe(false);
    expect(due(at, '2026-03-28T05:00:10Z', '2026-03-29T04:00:00Z')).toBe(true);
  });

  it('come at both where both are said', () => {
    const both = { everyMinutes: 600, at: '06:00', timezone: 'UTC' };
    expect(due(both, '2026-03-02T05:30:00Z', '2026-03-02T05:59:00Z')).toBe(false);
    expect(due(both, '2026-03-02T05:30:00Z', '2026-03-02T06:00:00Z')).toBe(true);
    expect(due(both, '2026-03-02T07:00:00Z', '2026-03-02T17:00:00Z')).toBe(true);
  });
});
