import { expect, test } from 'vitest';
import { createLastUses } from '../../src/service/keys/last-use.js';
import type { LastUse } from '../../src/service/store/last-uses.js';

const start = new Date('2026-01-01T00:00:00.000Z');

/** A store that appends each call to `written`, and fails while `isDown`. */
const world = () => {
  const state = { now: start, isDown: false, written: [] as (readonly LastUse[])[], warnings: [] as string[] };
  const lastUses = createLastUses({
    store: {
      lastUses: {
        write: async (uses) => {
          if (state.isDown) throw new Error('the database is away');
          if (uses.length > 0) state.written.push(uses);
        },
      },
    },
    clock: { now: () => state.now },
    log: { warn: (_, message) => state.warnings.push(message) },
  });
  const later = (seconds: number): void => {
    state.now = new Date(start.getTime() + seconds * 1000);
  };
  return { state, lastUses, later };
};

test('a thousand uses are one write, with the latest of each credential', async () => {
  const { state, lastUses, later } = world();
  for (let count = 0; count < 1000; count += 1) {
    later(count);
    lastUses.note('apiKey', `k${count % 2}`);
    lastUses.note('guestToken', 'k0');
  }
  expect(state.written).toEqual([]);
  await lastUses.flush();
  const at = (seconds: number) => new Date(start.getTime() + seconds * 1000);
  expect(state.written).toEqual([
    [
      { kind: 'apiKey', id: 'k0', at: at(998) },
      { kind: 'guestToken', id: 'k0', at: at(999) },
      { kind: 'apiKey', id: 'k1', at: at(999) },
    ],
  ]);
  await lastUses.flush();
  expect(state.written).toHaveLength(1);
});

test('what could not be written is logged, never thrown, and written the next time, unless there is something later', async () => {
  const { state, lastUses, later } = world();
  lastUses.note('apiKey', 'kept');
  lastUses.note('apiKey', 'used-again');
  state.isDown = true;
  const flushed = lastUses.flush();
  later(5);
  lastUses.note('apiKey', 'used-again');
  await flushed;
  expect(state.warnings).toHaveLength(1);
  state.isDown = false;
  await lastUses.flush();
  expect(state.written.flat().toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
    { kind: 'apiKey', id: 'kept', at: start },
    { kind: 'apiKey', id: 'used-again', at: new Date(start.getTime() + 5000) },
  ]);
});

test('the memory of last uses is bounded', async () => {
  const { state, lastUses } = world();
  for (let count = 0; count < 100_010; count += 1) lastUses.note('guestToken', `t${count}`);
  await lastUses.flush();
  expect(state.written[0]).toHaveLength(100_000);
});
