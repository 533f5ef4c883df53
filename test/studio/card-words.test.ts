/** What Studio says of closed cards and of changes in a database, in words. */
import { describe, expect, test } from 'vitest';
import { type Cards, type ClosedCard, howMany, whoIs, whyClosed } from '../../src/web/studio/base/card-words.js';
import {
  acceptedBy,
  brokenWords,
  type Difference,
  decisionsFor,
  undecided,
  whatChanged,
} from '../../src/web/studio/base/model-changes.js';

const closed = (parts: Partial<ClosedCard>): ClosedCard => ({
  ...{ metricId: 'm', name: 'Delays', refuses: 'metric', cause: 'restriction', message: 'No way.' },
  by: [{ field: 'dashboardFilters', name: 'State', from: [{ name: 'own state', at: '/etc/app/policy.yaml:7:3' }] }],
  ...parts,
});
const cards = (parts: Partial<Cards>): Cards => ({ source: 'delays', cards: 8, refused: [], refusal: null, ...parts });

describe('closed cards', () => {
  test('each cause names the restriction with its file and line, without the folders of the server', () => {
    expect(whyClosed(closed({}))).toBe(
      '“own state” (policy.yaml:7:3) restricts by “State”, and the card cannot be restricted so. No way.',
    );
    expect(whyClosed(closed({ cause: 'column' }))).toBe('It needs “State”, hidden by “own state” (policy.yaml:7:3).');
    expect(whyClosed(closed({ cause: 'hidden' }))).toBe('It is hidden by “own state” (policy.yaml:7:3).');
    expect(whyClosed(closed({ cause: 'definition', by: [] }))).toContain('Nobody can see it');
  });

  test('the number of closed cards is said for one, some, all and none', () => {
    expect(howMany(cards({}))).toBe('all 8 cards can be shown');
    expect(howMany(cards({ refused: [closed({})] }))).toBe('1 of 8 cards can’t be shown');
    expect(howMany(cards({ refused: [closed({ refuses: 'token' })] }))).toContain('no token is made');
    expect(howMany(cards({ cards: 0 }))).toBe('there are no cards yet');
    expect(whoIs({ roles: ['analyst', 'head'], restrictions: [] })).toBe('As “analyst” and “head”');
    expect(whoIs({ roles: [], restrictions: [{ name: 'r', at: '' }] })).toBe('With the restriction “r”');
  });
});

const difference = (change: Partial<Difference['change']>, parts: Partial<Difference> = {}): Difference => ({
  change: {
    ...{ kind: 'new', table: { schemaName: 's', tableName: 't' }, columnName: 'c', newName: null },
    ...{ before: null, after: 'text', ...change },
  },
  ...{ name: `s.t.${change.columnName ?? 'c'}`, ownership: null, caution: null, breaks: [], ...parts },
});

describe('changes in a database', () => {
  test('a safe addition and a rename are proposed, and a removal never is', () => {
    expect(decisionsFor(difference({}))[0]).toBe('add');
    expect(decisionsFor(difference({}, { caution: 'named like a secret' }))[0]).toBe('later');
    expect(decisionsFor(difference({ kind: 'renamed', newName: 'd' }))[0]).toBe('rename');
    expect(decisionsFor(difference({ kind: 'gone' }))[0]).toBe('later');
    expect(decisionsFor(difference({ kind: 'retyped' }))).toEqual([]);
  });

  test('a decision becomes a change, and what is gone must be decided first', () => {
    const all = [
      difference({}),
      difference({ kind: 'gone', columnName: 'g' }),
      difference({ kind: 'retyped', columnName: 'r' }),
    ];
    expect(acceptedBy(all, new Map([['s.t.c', 'leaveOut']])).map(({ kind }) => kind)).toEqual(['leftOut', 'retyped']);
    expect(undecided(all, new Map()).map(({ name }) => name)).toEqual(['s.t.g']);
    expect(undecided(all, new Map([['s.t.g', 'remove']]))).toEqual([]);
  });

  test('words name the new name, the types, and what breaks', () => {
    expect(whatChanged(difference({ kind: 'renamed', newName: 'd' }))).toContain('probably d now');
    expect(whatChanged(difference({ kind: 'retyped', before: 'int', after: 'text' }))).toContain(
      'was int, and is text now',
    );
    expect(brokenWords({ what: 'metric', name: 'Delays', where: 'Board', why: 'reads s.t.c' })).toBe(
      'Chart “Delays” of Board: reads s.t.c',
    );
  });
});
