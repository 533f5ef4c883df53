/** What Studio's overview puts before a person. */
import { expect, test } from 'vitest';
import { concernsOf } from '../../src/web/studio/base/attention.js';
import { recentWork } from '../../src/web/studio/base/recent-work.js';

const good = { name: 'metadata', isGood: true };
const answering = { name: 'flights', lastError: { isOver: true } };
const sent = { isPaused: false, last: { state: 'sent' } };

test('nothing is to be looked at where all is well, and where nothing may be read', () => {
  const rollouts = [{ id: 'r', template: 'delays', state: 'finished' }];
  const system = { checks: [good] };
  const processes = [{ sources: [answering, { name: 'new', lastError: null }] }];
  expect(
    concernsOf({ system, processes, rollouts, schedules: [sent, { isPaused: false, last: null }], failedQueries: [] }),
  ).toEqual([]);
  expect(concernsOf({})).toEqual([]);
});

test('what fails comes before what waits, and each leads to its page', () => {
  const concerns = concernsOf({
    system: { checks: [good, { name: 'data-folder', isGood: false }] },
    processes: [
      { sources: [answering, { name: 'shop', lastError: { isOver: false } }] },
      { sources: [{ name: 'shop', lastError: { isOver: false } }] },
    ],
    rollouts: [
      { id: 'r3', template: 'delays', state: 'paused' },
      { id: 'r2', template: 'routes', state: 'running' },
      { id: 'r1', template: 'delays', state: 'stopped' },
      { id: 'r0', template: 'cargo', state: 'rollback-stopped' },
    ],
    schedules: [sent, { isPaused: false, last: { state: 'failed' } }, { isPaused: true, last: { state: 'failed' } }],
    failedQueries: [{ clientId: 'LAX' }, { clientId: 'LAX' }, { clientId: null }],
    templates: [
      { template: 'delays', name: 'Delays', changes: 2, unreadable: [{ name: 'Crews' }] },
      { template: 'routes', name: 'Routes', changes: 0, unreadable: [] },
    ],
    keySets: [
      { of: 'https://login.example.com', isFailing: true },
      { of: 'https://other.example.com', isFailing: false },
    ],
    unknownNames: 1,
  });
  expect(concerns.map(({ text, path, rest = [], query = {} }) => [text, [path, ...rest].join('/'), query])).toEqual([
    ['The part data-folder does not work', 'health', {}],
    ['The source shop does not answer', 'sources/shop', {}],
    ['The keys of https://login.example.com cannot be read: soon its users cannot log in', 'keys', {}],
    ['The roll-out of cargo stopped while it was taken back', 'rollouts/r0', {}],
    ['1 report or alert could not be delivered the last time', 'deliveries', { state: 'failed' }],
    ['Delays has 1 card whose rows belong to nobody', 'models', {}],
    ['The roll-out of delays waits for you', 'rollouts/r3', {}],
    ['The policy names 1 thing that does not exist', 'policy', {}],
    ['2 queries of LAX failed within a day', 'queries/failed', { tenant: 'LAX' }],
    ['1 query failed within a day', 'queries/failed', {}],
    ['The roll-out of routes is under way', 'rollouts/r2', {}],
    ['Delays has 2 changes that no tenant sees yet', 'rollouts', { template: 'delays' }],
  ]);
});

test('failing queries of many tenants are named for those with the most of them', () => {
  const failedQueries = ['a', 'b', 'b', 'c', 'c', 'c', 'd', 'e'].map((clientId) => ({ clientId }));
  expect(concernsOf({ failedQueries }, (id) => `Company ${id}`).map(({ text }) => text)).toEqual([
    '3 queries of Company c failed within a day',
    '2 queries of Company b failed within a day',
    '1 query of Company a failed within a day',
    'Queries of 2 more tenants failed within a day',
  ]);
});

test('recent work names who did what, the latest first', () => {
  const editions = [
    { number: 2, by: 'link Ann', at: '2026-01-03T00:00:00Z', changes: ['Metric "A" was added.', 'The name changes.'] },
    { number: 1, by: null, at: '2026-01-01T00:00:00Z', changes: [] },
  ];
  const rollout = {
    id: 'r',
    template: 'delays',
    state: 'finished',
    startedBy: 'link Bo',
    startedAt: '2026-01-02T00:00:00Z',
  };
  expect(recentWork([{ template: 'delays', name: 'Delays', editions }], [rollout]).map(({ text }) => text)).toEqual([
    'Ann changed Delays: Metric "A" was added. And 1 more.',
    'Bo rolled out Delays: every tenant has it.',
    'Delays: first edition.',
  ]);
});
