import { describe, expect, it } from 'vitest';
import { Outages } from '../../src/web/token/outages.js';
import { createPageClock, settle } from './page-clock.js';

const setUp = () => {
  const clock = createPageClock();
  const outages = new Outages(clock.deps);
  const seen = { probes: 0, back: 0, isUp: false };
  const waiting = () => ({
    probe: async () => {
      seen.probes += 1;
      return seen.isUp;
    },
    back: () => {
      seen.back += 1;
    },
  });
  const wait = (url = 'https://service.example') => outages.wait(url, waiting());
  return { ...clock, outages, seen, wait };
};

describe('waiting for a service that is away', () => {
  it('probes once for all elements, and lets all go on when the service is back', async () => {
    const { wait, seen, advance, timers, wakers, outages } = setUp();
    for (let element = 0; element < 20; element += 1) wait();
    await advance(750);
    expect(seen).toMatchObject({ probes: 1, back: 0 });
    seen.isUp = true;
    await advance(1500);
    expect(seen).toMatchObject({ probes: 2, back: 20 });
    expect([timers.size, wakers.size, outages.size]).toEqual([0, 0, 0]);
  });

  it('goes on within five seconds of the return, after an outage of any length', async () => {
    const { wait, seen, advance } = setUp();
    wait();
    await advance(86_400_000);
    expect(seen.probes).toBeLessThan(86_400 / 2);
    seen.isUp = true;
    await advance(4_000);
    expect(seen.back).toBe(1);
  });

  it('probes at once when the page is online again or shown, and never while it is hidden', async () => {
    const { wait, seen, advance, wake, state } = setUp();
    wait();
    state.isHidden = true;
    await advance(60_000);
    expect(seen.probes).toBe(0);
    state.isHidden = false;
    seen.isUp = true;
    await wake();
    expect(seen).toMatchObject({ probes: 1, back: 1 });
  });

  it('goes on growing the waits if the service fails again at once', async () => {
    const { wait, seen, advance } = setUp();
    seen.isUp = true;
    for (let relapse = 0; relapse < 20; relapse += 1) {
      const { back } = seen;
      wait();
      await advance(4_000);
      expect(seen.back).toBe(back + 1);
    }
    wait();
    await advance(2_999);
    expect(seen.back).toBe(20);
  });

  it('asks each service by itself, and stops when nobody waits any more', async () => {
    const { wait, seen, advance, timers, wakers } = setUp();
    const ends = [wait('https://a.example'), wait('https://b.example')];
    await advance(750);
    expect(seen.probes).toBe(2);
    for (const end of ends) end();
    await settle();
    expect([timers.size, wakers.size]).toEqual([0, 0]);
    await advance(60_000);
    expect(seen.probes).toBe(2);
  });
});
