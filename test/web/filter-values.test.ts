import { describe, expect, it } from 'vitest';
import type { GuestFilter } from '../../src/model/guest/view.js';
import { createFormat } from '../../src/web/base/format.js';
import { filterNotes, ignoredFilters, withoutLocked } from '../../src/web/filters/filter-values.js';

const english = createFormat('en-US');
const filter = (name: string, dataType: GuestFilter['dataType'], defaultValue: GuestFilter['defaultValue'] = null) => ({
  name,
  dataType,
  defaultValue,
});
const filters = [filter('State', 'string'), filter('Date', 'date'), filter('Distance', 'number')];
const note = (values: Parameters<typeof filterNotes>[1]) => filterNotes(filters, values, english).join('; ');

it('names the values of the page that have no effect, with the reason', () => {
  const locked = { ...filter('Airline', 'string'), appliedValue: ['AA'] };
  const values = { State: ['CA'], Airline: ['UA'], Nothing: 1, constructor: 2 };
  expect(ignoredFilters(values, [...filters, locked])).toEqual([
    { name: 'Airline', reason: 'locked' },
    { name: 'Nothing', reason: 'unknown' },
    { name: 'constructor', reason: 'unknown' },
  ]);
  expect(ignoredFilters({ State: ['CA'] }, filters)).toEqual([]);
});

describe('filter values in words', () => {
  it('says nothing of filters that are not set: the page does not know what the token restricts', () => {
    expect(filterNotes(filters, {}, english)).toEqual([]);
    expect(filterNotes([], {}, english)).toEqual([]);
  });

  it('names each filter that is set, and counts values that would be too many', () => {
    expect(note({ State: ['CA'] })).toBe('State: CA');
    expect(note({ State: ['CA', 'NV', 'NY', 'OR'], Distance: 500 })).toBe('State: CA, NV, +2; Distance: 500');
  });

  it('names an empty text, and quotes a text that reads like it', () => {
    expect(note({ State: ['', '(empty text)'] })).toBe('State: (empty text), “(empty text)”');
  });

  it('writes ranges with one end or both', () => {
    expect(note({ Date: { startDate: '2001-02-01', endDate: '2001-02-28' } })).toBe('Date: Feb 1, 2001 – Feb 28, 2001');
    expect(note({ Date: { startDate: '2001-02-01', endDate: '2999-12-31' } })).toBe('Date: from Feb 1, 2001');
    expect(note({ Date: { startDate: '1900-01-01', endDate: '2001-02-28' } })).toBe('Date: up to Feb 28, 2001');
    expect(note({ Distance: { min: 1000, max: undefined } })).toBe('Distance: from 1,000');
    expect(note({ Distance: { min: '9007199254740993' } })).toBe('Distance: from 9,007,199,254,740,993');
  });

  it('shows a default until the guest sets another value', () => {
    const late = [filter('Late', 'boolean', true)];
    expect(filterNotes(late, {}, english)).toEqual(['Late: Yes']);
    expect(filterNotes(late, { Late: false }, english)).toEqual(['Late: No']);
  });

  it('leaves out choices for locked filters', () => {
    const locked = [{ ...filter('State', 'string'), appliedValue: ['CA'] }, filter('Date', 'date')];
    expect(withoutLocked({ State: ['NV'], Date: 'Today', constructor: 1 }, locked)).toEqual({
      Date: 'Today',
      constructor: 1,
    });
  });

  it('shows the token’s value if it may be seen, whatever the guest has chosen', () => {
    const state = [{ ...filter('State', 'string'), appliedValue: ['CA', 'NV'] }];
    expect(filterNotes(state, {}, english)).toEqual(['State: CA, NV']);
    expect(filterNotes(state, { State: ['CA'] }, english)).toEqual(['State: CA, NV']);
  });

  it('treats `constructor` like any other filter name', () => {
    expect(filterNotes([filter('constructor', 'boolean', true)], {}, english)).toEqual(['constructor: Yes']);
  });
});
