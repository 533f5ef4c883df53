/** How messages look: by the configuration alone, with its faults named. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadBrands, tenantBrands } from '../../src/platform/config/mail-brands.js';
import { defaultSettings } from '../../src/platform/config/settings.js';
import { loadDkim } from '../../src/platform/keys/dkim.js';

const folder = mkdtempSync(join(tmpdir(), 'guestlist-brands-'));
afterAll(() => rmSync(folder, { recursive: true }));

const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1');
writeFileSync(join(folder, 'a.png'), png);
writeFileSync(join(folder, 'large.png'), Buffer.concat([png, Buffer.alloc(102_400)]));
writeFileSync(join(folder, 'page.png'), '<svg onload="alert(1)"/>');

const mail = { ...defaultSettings().mail, from: 'reports@analytics.example', senderName: 'Analytics', closing: 'Bye.' };

describe('the look of messages', () => {
  test('is that of all tenants, but for what a tenant has of its own', () => {
    const tenants = { a: { senderName: 'Acme', logo: 'a.png', replyTo: 'help@acme.example' }, b: { language: 'de' } };
    const { brandOf, faults } = loadBrands({ ...mail, tenants }, folder);
    expect(faults).toEqual([]);
    const usual = { replyTo: null, language: null, logo: null, opening: null, closing: 'Bye.' };
    const from = { name: 'Analytics', address: 'reports@analytics.example' };
    expect(brandOf('a')).toEqual({
      ...usual,
      from: { ...from, name: 'Acme' },
      replyTo: 'help@acme.example',
      logo: { contentType: 'image/png', content: png },
    });
    expect(brandOf('b')).toEqual({ ...usual, from, language: 'de' });
    for (const other of ['c', 'A', 'a ', 'constructor', '__proto__'])
      expect(brandOf(other)).toEqual({ ...usual, from });
  });

  test.each([
    ['nowhere.png', 'cannot be read (ENOENT)'],
    ['large.png', 'has more than 102400 bytes'],
    ['page.png', 'is no PNG and no JPEG'],
  ])('has no logo %s', (logo, mend) => {
    const { faults } = loadBrands({ ...mail, logo, tenants: { a: { logo } } }, folder);
    expect(faults.map(({ path }) => path)).toEqual(['mail.logo', 'mail.tenants.a.logo']);
    for (const fault of faults) expect(fault.mend).toContain(mend);
  });

  test.each([
    { senderName: 'Acme\r\nBcc: eve@evil.example' },
    { senderName: 'Acme\u202e' },
    { from: 'Acme <reports@acme.example>' },
    { replyTo: 'a@acme.example, eve@evil.example' },
    { closing: 'One\nTwo' },
    { language: 'de\r\nX: y' },
    { bcc: 'eve@evil.example' },
  ])('the look of messages is refused: %j', (brand) => {
    expect(tenantBrands.safeParse({ a: brand }).success).toBe(false);
  });
});

test.each([
  [null, 'needs a key: set GUESTLIST_DKIM_KEY'],
  ['-----BEGIN PRIVATE KEY-----\nno\n-----END PRIVATE KEY-----', 'has a key that is no RSA key'],
])('signing without a usable key is refused, and the key is not shown', (key, mend) => {
  const { dkim, faults } = loadDkim({ domain: 'analytics.example', selector: 'one', keyFile: null }, key, folder);
  expect([dkim, faults.map(({ path }) => path)]).toEqual([null, ['mail.dkim']]);
  expect(faults[0]?.mend).toContain(mend);
  expect(faults[0]?.mend).not.toContain('BEGIN');
});

test('a key file that is missing is named', () => {
  const { faults } = loadDkim({ domain: 'analytics.example', selector: 'one', keyFile: 'no.pem' }, null, folder);
  expect(faults).toEqual([{ path: 'mail.dkim.keyFile', mend: 'cannot be read' }]);
});
