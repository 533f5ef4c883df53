import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { errors } from '../../src/model/errors.js';
import { isReason, type Reason, reasonOfCode, restrictionReason } from '../../src/model/reasons.js';

const src = fileURLToPath(new URL('../../src', import.meta.url));

/** The reason codes that are not derived from an error code, as the list of them is written. */
const ownReasons = [...readFileSync(join(src, 'model/reasons.ts'), 'utf8').matchAll(/^ {2}'([a-z0-9-]+)',$/gm)].map(
  ([, reason = '']) => reason,
);

/** Families of reasons that consist of a prefix and a member of another closed set. */
const families = /^(session|failed|database|datasource|table|tenant)-|-limit$/;

test('every reason code is used', () => {
  const texts = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && file !== join('domain', 'reasons.ts'))
    .map((file) => readFileSync(join(src, file), 'utf8'));
  const unused = ownReasons.filter(
    (reason) => !families.test(reason) && !texts.some((text) => text.includes(`'${reason}'`)),
  );
  expect(ownReasons.length).toBeGreaterThan(100);
  expect(unused).toEqual([]);
});

test('a text from elsewhere is a reason code if it is of the set, alone or as a restriction', () => {
  const all = [...ownReasons, ...Object.keys(errors).map((code) => reasonOfCode(code as keyof typeof errors))];
  for (const reason of all) expect([isReason(reason), isReason(`restriction-${reason}`)]).toEqual([true, true]);
  for (const text of ['', 'no-such-reason', 'restriction-', 'restriction-restriction-fan-out', 'FAN_OUT']) {
    expect(isReason(text), text).toBe(false);
  }
});

test('a restriction has its prefix once', () => {
  const once: Reason = restrictionReason('path-missing');
  expect([once, restrictionReason(once)]).toEqual(['restriction-path-missing', 'restriction-path-missing']);
});
