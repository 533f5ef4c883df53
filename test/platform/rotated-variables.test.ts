/** The next value of a variable with a secret: both values hold, or none is given. */
import { expect, it } from 'vitest';
import { rotateVariable } from '../../src/compose/rotate/variables.js';
import { defaultSettings } from '../../src/platform/config/settings.js';
import { severalSecrets } from '../../src/platform/keys/several-secrets.js';

const name = 'GUESTLIST_HOST_JWT_SECRET';
const rotate = (value: string) =>
  rotateVariable(
    { settings: defaultSettings(), issuers: [], readVariable: (of) => (of === name ? value : undefined) },
    name,
  );

it('has the old value and a new one', () => {
  const old = 'x'.repeat(32);
  const { step, next } = rotate(old);
  expect([step, severalSecrets(next)[0], severalSecrets(next).length]).toEqual(['added', old, 2]);
  expect(rotate(next)).toMatchObject({ step: 'ended', next: severalSecrets(next)[1] });
});

it('is not made of a value beside which none can stand, and the message does not hold it', () => {
  const passphrase = 'many words that were taken from a book by hand';
  expect(() => rotate(passphrase)).toThrow(`${name} has a value with spaces`);
  expect(() => rotate(passphrase)).not.toThrow('book');
  expect(() => rotate('short')).toThrow('fewer than 32 characters');
});
