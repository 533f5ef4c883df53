/** What Studio's overview puts before a person. */
import { expect, test } from 'vitest';
import { concernsOf } from '../../src/web/studio/base/attention.js';

const good = { name: 'metadata', isGood: true };
const answering = { name: 'flights', lastError: { isOver: true } };
const sent = { isPaused: false, last: { state: 'sent' } };

test('nothing is to be looked at where all is well, and where nothing may be read', () => {
  const rollouts = [{ id: 'r', template: 'delays', state: 'finished' }];
  const system = { checks: [good], live: { sources: [answering, { name: 'new', lastError: null }] } };
  expect(
    concernsOf({ system, rollouts, schedules: [sent, { isPaused: false, last: null }], failedQueries: [] }),
  ).toEqual([]);
  expect(concernsOf({})).toEqual([]);
});

test('what fails comes before what waits, and each leads to its page', () => {
  const concerns = concernsOf({
    system: {
      checks: [good, { name: 'data-folder', isGood: false }],
      live: { sources: [answering, { name: 'shop', lastError: { isOver: false } }] },
    },
    rollouts: [
      { id: 'r3', template: 'delays', state: 'paused' },
      { id: 'r2', template: 'routes', state: 'running' },
      { id: 'r1', template: 'delays', state: 'stopped' },
      { id: 'r0', template: 'cargo', state: 'rollback-stopped' },
    ],
    schedules: [sent, { isPaused: false, last: { state: 'failed' } }, { isPaused: true, last: { state: 'failed' } }],
    failedQueries: [{}, {}],
  });
  expect(concerns.map(({ text, path, rest = [], query = {} }) => [text, [path, ...rest].join('/'), query])).toEqual([
    ['The part data-folder does not work', 'health', {}],
    ['The source shop does not answer', 'health', {}],
    ['The roll-out of cargo stopped while it was taken back', 'rollouts/r0', {}],
    ['1 report or alert could not be delivered the last time', 'deliveries', { state: 'failed' }],
    ['The roll-out of delays is paused', 'rollouts/r3', {}],
    ['2 queries failed within a day', 'queries/failed', {}],
    ['The roll-out of routes is under way', 'rollouts/r2', {}],
  ]);
});
