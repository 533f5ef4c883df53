/** Numbers in filters: every digit is compared, and numbers that JSON has rounded are refused. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostMade, type Metric } from '../../src/model/dashboard/metric.js';
import { compareNumbers, isDecimalText, isNumberValue, isUnsafeNumber } from '../../src/model/filter/exact-number.js';
import { rlsConditions, rlsVariablesOf } from '../../src/model/guest/rls-conditions.js';
import { columnRef, metric, refusalOf } from '../engine/world.js';

test('whole JSON numbers beyond 2^53 - 1 are unsafe, and nothing else is', () => {
  expect([2 ** 53, -(2 ** 53), 1e300, JSON.parse('9007199254740993')].map(isUnsafeNumber)).toEqual(Array(4).fill(true));
  const safe = [2 ** 53 - 1, -(2 ** 53 - 1), 0, -0, 0.1, 1e-300, '9007199254740993', Number.NaN, true];
  expect(safe.map(isUnsafeNumber)).toEqual(safe.map(() => false));
});

test('only canonical text is a number', () => {
  const texts = ['0', '-1', '10.50', '9007199254740993', '0.1', '-0.0'];
  expect(texts.filter(isDecimalText)).toEqual(texts);
  expect(['', '01', '+1', '1e3', '1.', '.5', ' 1', '0x1', '1,5', '٣', 'NaN'].filter(isDecimalText)).toEqual([]);
  expect([Number.NaN, Number.POSITIVE_INFINITY, 'nan', 'inf', null, {}].filter(isNumberValue)).toEqual([]);
});

test('every digit counts, however the number is given', () => {
  const whole = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
  fc.assert(
    fc.property(whole, whole, fc.nat(20), (a, b, scale) => {
      const text = (units: bigint) => {
        const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
        const cut = digits.length - scale;
        return `${units < 0n ? '-' : ''}${digits.slice(0, cut)}${scale === 0 ? '' : `.${digits.slice(cut)}`}`;
      };
      expect(compareNumbers(text(a), text(b))).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
    { seed: 12 },
  );
  const float = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(float, float, (a, b) => {
      expect(Math.sign(compareNumbers(a, b) ?? Number.NaN)).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
    { seed: 12 },
  );
  expect(compareNumbers('9007199254740993', 9007199254740992)).toBe(1);
  expect(compareNumbers('Infinity', 1e308)).toBeGreaterThan(0);
  expect(compareNumbers('NaN', 'Infinity')).toBeGreaterThan(0);
  expect(compareNumbers('a', 1)).toBeUndefined();
});

const guarded = (column: ReturnType<typeof columnRef> | undefined): Metric => ({
  metricId: 'm',
  workspaceId: 'w',
  name: 'm',
  lineage: [],
  owner: null,
  ...hostMade,
  definition: { ...metric('sales'), rlsVariables: [{ name: 'account', column, isOptional: false }] },
});

test('a variable that custom SQL compares with takes no unsafe number, since its type is not known', async () => {
  const settings = [{ account: JSON.parse('9007199254740993') }];
  for (const read of [rlsConditions, rlsVariablesOf]) {
    expect(await refusalOf(() => read(guarded(undefined), settings))).toMatchObject({
      code: 'RLS_SETTINGS_PARAM_ERROR',
      message: expect.stringContaining('must be sent as text'),
    });
  }
  expect(rlsVariablesOf(guarded(undefined), [{ account: '9007199254740993' }]).get('account')).toEqual([
    '9007199254740993',
  ]);
  // Columns are checked by the engine, since a float column is no more exact than JSON.
  expect(rlsConditions(guarded(columnRef('sales.account')), settings)).toHaveLength(1);
});
