import { describe, expect, it } from 'vitest';
import { CircuitOpen, createCircuitBreaker } from '../../src/platform/work/circuit-breaker.js';

const start = () => {
  let nowMs = 0;
  const changes: unknown[] = [];
  const breaker = createCircuitBreaker({
    failures: 3,
    openMs: 100,
    maxOpenMs: 300,
    nowMs: () => nowMs,
    onChange: (state, openMs) => changes.push([state, openMs]),
  });
  const fail = (by?: string, leaveAloneMs?: number) => breaker.admit().failed(by, leaveAloneMs);
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { breaker, changes, fail, advance };
};

describe('a circuit', () => {
  it('opens after so many failures in a row, and not for failures with a success between', () => {
    const { breaker, changes, fail } = start();
    for (let round = 0; round < 5; round += 1) {
      fail();
      fail();
      breaker.admit().succeeded();
    }
    expect(changes).toEqual([]);
    fail();
    fail();
    fail();
    expect(changes).toEqual([['open', 100]]);
    expect(() => breaker.admit()).toThrow(CircuitOpen);
    expect(() => breaker.assertAsking()).toThrow(expect.objectContaining({ remainingMs: 100 }));
  });

  it('lets one through after its time, and all once that one was answered', () => {
    const { breaker, changes, fail, advance } = start();
    for (let round = 0; round < 3; round += 1) fail();
    advance(100);
    const probe = breaker.admit();
    expect(() => breaker.admit()).toThrow(CircuitOpen);
    probe.succeeded();
    expect(changes).toEqual([
      ['open', 100],
      ['closed', 0],
    ]);
    fail();
    fail();
    breaker.admit();
  });

  it('stays open twice as long each time that the probe fails, up to a bound', () => {
    const { changes, fail, advance } = start();
    for (let round = 0; round < 3; round += 1) fail();
    for (const openMs of [100, 200, 300]) {
      advance(openMs);
      fail('anyone');
    }
    expect(changes.map((change) => Object(change)[1])).toEqual([100, 200, 300, 300]);
  });

  it('goes on to the next probe where one says nothing', () => {
    const { breaker, fail, advance } = start();
    for (let round = 0; round < 3; round += 1) fail();
    advance(100);
    breaker.admit().void();
    breaker.admit().succeeded();
    breaker.admit();
  });

  it('does not open or close for what began before it opened', () => {
    const { breaker, changes, fail, advance } = start();
    const [early, late] = [breaker.admit(), breaker.admit()];
    for (let round = 0; round < 3; round += 1) fail();
    early.succeeded();
    late.failed();
    expect(changes).toEqual([['open', 100]]);
    advance(99);
    expect(() => breaker.admit()).toThrow(CircuitOpen);
  });

  it('stays open for as long as the other side asked for, within its bound', () => {
    const { changes, fail } = start();
    fail();
    fail();
    fail(undefined, 250);
    expect(changes).toEqual([['open', 250]]);
    const other = start();
    for (let round = 0; round < 3; round += 1) other.fail(undefined, 1e9);
    expect(other.changes).toEqual([['open', 300]]);
  });

  it('is not opened to everybody by the answered failures of one asker, but is by two, or by silence', () => {
    const { changes, fail } = start();
    for (let round = 0; round < 50; round += 1) fail('LAX');
    expect(changes).toEqual([]);
    fail('ATL');
    expect(changes).toEqual([['open', 100]]);
    const silent = start();
    for (let round = 0; round < 2; round += 1) silent.fail('LAX');
    silent.fail();
    expect(silent.changes).toEqual([['open', 100]]);
  });
});
