/** What the audit says to people: one sentence for each entry, and the machine's values beside it. */
import { expect, test } from 'vitest';
import { auditKinds } from '../../src/gateway/audit/audit.js';
import { type Entry, factsOf, kindWords, sentenceOf } from '../../src/web/studio/base/audit-words.js';

const entry = (kind: string, rest: Partial<Entry> = {}): Entry => ({
  ...{ seq: 7, at: '2026-01-01T00:00:00.000Z', kind, code: 'OK' },
  ...rest,
});
const names = new Map([['https://login.example.com|u1', 'Marcus']]);
const marcus = { tenant: 'LAX', user: 'https://login.example.com|u1' };

test('an entry is a sentence with the people and the dashboards of it', () => {
  const say = (kind: string, rest: Partial<Entry> = {}) => sentenceOf(entry(kind, rest), names);
  expect(say('mint', { ...marcus, detail: { dashboards: 'Delays', embeds: 1 } })).toBe('Marcus opened Delays');
  expect(say('mint', { user: 'x|u2', detail: { embeds: 2 } })).toBe('u2 opened 2 dashboards');
  expect(say('denial', { ...marcus, code: 'NO_POLICY' })).toBe(
    'Marcus was turned away: the policy lets this user see nothing',
  );
  expect(say('policy-load', { code: 'INVALID_POLICY', detail: { faults: 1 } })).toBe(
    'A changed policy was refused: 1 fault',
  );
  expect(say('admin', { detail: { command: 'tenant-suspend', operator: 'link Ann' } })).toBe('Ann suspended a tenant');
  expect(say('admin', { detail: { command: 'createDatamart', operator: 'link Ann' }, code: 'NOT_FOUND' })).toBe(
    'Ann ran “create datamart”, and was refused',
  );
  expect(say('something-new')).toBe('something new');
});

test('the values of the machine stay, and durations among them are read by people', () => {
  const facts = factsOf(
    entry('mint', { requestId: 'r', durationMs: 19.4, detail: { expiryMs: 3_600_000, isNew: true } }),
  );
  expect(Object.fromEntries(facts)).toMatchObject({
    ...{ number: '7', kind: 'mint', result: 'OK', request: 'r' },
    ...{ took: '19 milliseconds', expiry: '1 hour', 'is new': 'yes' },
  });
});

test('each kind of entry that the audit has is told in words', () => {
  expect(Object.keys(kindWords).toSorted()).toEqual([...auditKinds].toSorted());
  for (const kind of auditKinds) expect(sentenceOf(entry(kind), names)).toMatch(/^[A-Z].* /);
});
