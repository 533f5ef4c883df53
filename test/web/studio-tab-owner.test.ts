/** What a browser tab keeps in Studio, such as the claims of a user, is of one person alone. */
import { expect, test } from 'vitest';
import { forgetOfOthers } from '../../src/web/studio/base/tab-owner.js';

const ann = { name: 'Ann', issuer: 'login', seesData: true };
const mine = ['viewer', 'viewer-beside'];

/** What a tab in which Ann chose users still has of them once this person goes on in it. */
const keptFor = (person: typeof ann | null): readonly string[] => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => void kept.set(name, text),
    removeItem: (name: string) => void kept.delete(name),
  };
  forgetOfOthers(storage, mine, ann);
  for (const name of mine) storage.setItem(name, 'lena@customer.example');
  forgetOfOthers(storage, mine, person);
  return mine.filter((name) => kept.has(name));
};

test('the same person finds what was kept after a new login', () => {
  expect(keptFor({ ...ann })).toEqual(mine);
});

test.each([
  ['another person', { ...ann, name: 'Ben' }],
  ['somebody of the same name at another login', { ...ann, issuer: 'other' }],
  ['somebody who may see no data any more', { ...ann, seesData: false }],
  ['nobody', null],
])('what was kept is forgotten for %s', (_, person) => {
  expect(keptFor(person)).toEqual([]);
});
