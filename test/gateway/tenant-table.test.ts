import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { createTableReader } from '../../src/gateway/policy/tenant-csv.js';
import { loadTenantTable } from '../../src/gateway/policy/tenant-table.js';
import { keyOf, tenantOf, writeTenantTable } from '../bench/tenants.mjs';
import { analyst, captureLog, startGateway } from './harness.js';
import { basePolicy } from './policies.js';

const inFolder = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'guestlist-tenants-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, name);
};

const tableFile = (text: string | Buffer): string => {
  const file = inFolder('tenants.csv');
  writeFileSync(file, text);
  return file;
};

/** Replaces a file in one step (write and rename), as careful programs do. */
const replace = (file: string, text: string): void => {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
};

const faultsOf = (load: () => unknown): readonly { at: string; message: string }[] => {
  try {
    load();
  } catch (error) {
    if (error instanceof PolicyFaults) return error.faults;
    throw error;
  }
  throw new Error('the table was accepted');
};

const policyWith = (file: string, key = 'claims.org_id') => {
  const session = { ...basePolicy.session, tenant: { key, table: 'tenants.csv' } };
  return loadPolicy(JSON.stringify({ ...basePolicy, session }, null, 2), join(file, '../policy.yaml'));
};

const startWith = async (text: string, key?: string) => {
  const file = tableFile(text);
  const policy = policyWith(file, key);
  if (policy.tenant.by !== 'table') throw new Error('the policy has no table');
  const { table } = policy.tenant;
  onTestFinished(() => table.close());
  return { file, table, ...(await startGateway({ policy })) };
};

const mintedFor = (upstream: { mints: () => readonly { body?: unknown }[] }) =>
  upstream.mints().map(({ body }) => Object(body).clientId);

describe('a tenant table', () => {
  it('gives the tenant of a key, or several among which the body may choose', async () => {
    const { granted, refused, upstream } = await startWith('key,tenant,tenant\nLAX,los-angeles,\nSFO,san,francisco\n');
    await granted(analyst);
    await granted({ ...analyst, org_id: 'SFO' }, { tenant: 'francisco' });
    expect(mintedFor(upstream)).toEqual(['los-angeles', 'francisco']);
    const several = { ...analyst, org_id: 'SFO' };
    expect(await refused(several)).toMatchObject({ status: 403, code: 'NO_TENANT' });
    for (const tenant of ['los-angeles', 'SFO', 'San', 'san ', 'francisco\u0301']) {
      expect(await refused(several, { tenant }), tenant).toMatchObject({ status: 403, code: 'NO_TENANT' });
    }
    expect(upstream.mints()).toHaveLength(2);
  });

  it('unites the tenants of several keys, and ignores unknown keys', async () => {
    const { granted, refused, upstream } = await startWith('key,tenant\na,one\nb,two\nc,one\n', 'claims.orgs');
    await granted({ ...analyst, orgs: ['a', 'c', 'nowhere'] });
    await granted({ ...analyst, orgs: ['a', 'b'] }, { tenant: 'two' });
    expect(mintedFor(upstream)).toEqual(['one', 'two']);
    expect(await refused({ ...analyst, orgs: ['a', 'b'] })).toMatchObject({ code: 'NO_TENANT' });
  });

  it.each(['__proto__', 'constructor', 'toString', 'lax', 'LAX ', 'LÁX', 'LA\u200bX', 'ＬＡＸ', '', 'key'])(
    'matches keys exactly: %j is unknown',
    async (org_id) => {
      const { refused, upstream } = await startWith('key,tenant\nLAX,los-angeles\n');
      expect(await refused({ ...analyst, org_id })).toMatchObject({ status: 403, code: 'NO_TENANT' });
      expect(upstream.calls).toEqual([]);
    },
  );

  it('distinguishes two encodings of one letter', async () => {
    const { granted, upstream } = await startWith('key,tenant\ncafé,composed\ncafe\u0301,decomposed\n');
    await granted({ ...analyst, org_id: 'café' });
    await granted({ ...analyst, org_id: 'cafe\u0301' });
    expect(mintedFor(upstream)).toEqual(['composed', 'decomposed']);
  });
});

describe('the faults of a tenant table', () => {
  it('are all reported when the policy is loaded, each with its line', () => {
    const rows = [
      'LAX,one',
      'LAX,two',
      ',three',
      'ATL,',
      'ATL',
      'SFO,a,b',
      'X, y',
      '"Q,z',
      'B,a\u0007',
      'C,d',
      `D,${'x'.repeat(256)}`,
    ];
    const file = tableFile(`key,tenant\n${rows.join('\n')}\n`);
    expect(
      faultsOf(() => policyWith(file)).map(({ at, message }) => `${at.slice(file.length + 1)} ${message}`),
    ).toEqual([
      expect.stringMatching(/^3:1 has the key of a row above/),
      expect.stringMatching(/^4:1 has no usable key/),
      expect.stringMatching(/^5:1 has no tenant/),
      expect.stringMatching(/^6:1 has 1 fields where the first row has 2/),
      expect.stringMatching(/^7:1 has 3 fields/),
      expect.stringMatching(/^8:1 is no row of CSV/),
      expect.stringMatching(/^9:1 is no row of CSV/),
      expect.stringMatching(/^10:1 has a tenant that is no usable id/),
      expect.stringMatching(/^12:1 has a tenant that is no usable id/),
    ]);
  });

  it('are reported together with those of the policy', () => {
    const file = tableFile('key,tenant\nLAX,\n');
    const faults = faultsOf(() => policyWith(file, 'claims.orgid'));
    expect(faults.map(({ at }) => at.replace(/^.*\//, ''))).toEqual([
      expect.stringMatching(/^policy\.yaml:\d+:\d+$/),
      'tenants.csv:2:1',
    ]);
  });

  it.each<[string, string | Buffer, RegExp]>([
    ['an empty file', '', /the first row must be key,tenant/],
    ['no header', 'LAX,los-angeles\n', /the first row must be key,tenant/],
    ['a header of other names', 'org,tenant\nLAX,one\n', /the first row must be key,tenant/],
    ['a row that is still being written', 'key,tenant\nLAX,acme', /must end with a line feed/],
    ['another encoding', Buffer.from('key,tenant\nLAX,caf\xe9\n', 'latin1'), /2:1 is not UTF-8|is not UTF-8/],
    ['one tenant twice in a row', 'key,tenant,tenant\nLAX,a,a\n', /has one tenant twice/],
    ['an empty tenant between two', 'key,tenant,tenant,tenant\nLAX,a,,b\n', /no usable id/],
    ['a row without end', `key,tenant\n${'x'.repeat(70_000)}`, /longer than/],
    ['a text after quotes', 'key,tenant\n"a"b,c\n', /no row of CSV/],
  ])('the faults of a tenant table include %s', (_, text, message) => {
    expect(JSON.stringify(faultsOf(() => loadTenantTable(tableFile(text))))).toMatch(message);
  });

  it('include a missing file', () => {
    expect(faultsOf(() => loadTenantTable('/nowhere/tenants.csv'))).toEqual([
      { at: '/nowhere/tenants.csv:1:1', message: expect.stringContaining('ENOENT') },
    ]);
  });

  it('are listed only up to a limit', () => {
    const faults = faultsOf(() => loadTenantTable(tableFile(`key,tenant\n${'x\n'.repeat(500)}`)));
    expect(faults).toHaveLength(101);
    expect(faults.at(-1)?.message).toBe('400 more faults are not listed');
  });

  it('the faults of the mapping are reported by the policy: both kinds at once, none, a misspelt field', () => {
    const faultsWith = (tenant: unknown) =>
      faultsOf(() =>
        loadPolicy(JSON.stringify({ ...basePolicy, session: { ...basePolicy.session, tenant } }, null, 1), 'p.yaml'),
      );
    const http = { url: 'https://host.example', secretVariable: 'S' };
    expect(faultsWith({ key: 'claims.org_id' })[0]?.message).toMatch(/exactly one of table .* and http/);
    expect(faultsWith({ key: 'claims.org_id', table: 'a', http })[0]?.message).toMatch(/exactly one of/);
    const messages = (tenant: unknown) => faultsWith(tenant).map(({ message }) => message);
    expect(messages({ key: 'claims.org_id', tabel: 'a' })).toContain(
      'session.tenant.tabel: is not a field; did you mean "table"?',
    );
    expect(messages({ key: 'claims.org_id', http: { ...http, secret: 'x' } })).toContainEqual(
      expect.stringMatching(/session\.tenant\.http\.secret: is not a field/),
    );
    expect(faultsWith({ key: 'claims.level', table: 'a' })[0]?.message).toMatch(/gives int where/);
    expect(faultsWith(7)[0]?.at).toMatch(/^p\.yaml:\d+:\d+$/);
  });
});

describe('any tenant table', () => {
  const id = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .filter((text) => !/[\p{Cc}\p{Cs}]/u.test(text));
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const field = (text: string): string => (/[",]/.test(text) || text !== text.trim() ? quoted(text) : text);

  it('is read as written, with any chunks, quotes and line ends', () => {
    const rows = fc.uniqueArray(fc.tuple(id, fc.uniqueArray(id, { minLength: 1, maxLength: 3 })), {
      selector: ([key]) => key,
      maxLength: 20,
    });
    fc.assert(
      fc.property(
        rows,
        fc.boolean(),
        fc.constantFrom('\n', '\r\n'),
        fc.integer({ min: 1, max: 40 }),
        (all, isQuoted, end, cut) => {
          const write = isQuoted ? quoted : field;
          const lines = all.map(
            ([key, tenants]) => [key, ...tenants].map(write).join(',') + ','.repeat(3 - tenants.length),
          );
          const bytes = Buffer.from(`${['key,tenant,tenant,tenant', ...lines].join(end)}${end}`);
          const reader = createTableReader('t.csv');
          for (let at = 0; at < bytes.length; at += cut) reader.push(bytes.subarray(at, at + cut));
          const table = reader.end();
          expect(table.size).toBe(all.length);
          for (const [key, tenants] of all) expect(table.find(key)).toEqual(tenants);
        },
      ),
      { seed: 20_261_121, numRuns: 300 },
    );
  });

  it('a tenant table of a hundred thousand rows finds each of them, and no other key', () => {
    const file = inFolder('large.csv');
    writeTenantTable(file, 100_000);
    const table = loadTenantTable(file).current();
    expect(table.size).toBe(100_000);
    for (const index of [0, 1, 9_999, 10_000, 77_777, 99_999])
      expect(table.find(keyOf(index))).toEqual([tenantOf(index)]);
    expect(table.find(keyOf(100_000))).toBeUndefined();
  });
});

describe('leak 17: a tenant table that changes while the gateway runs', () => {
  it('takes effect at the next request, also for existing sessions and tokens', async () => {
    const { file, table, granted, refused, upstream, lines } = await startWith('key,tenant\nLAX,old\n');
    await granted(analyst);
    await granted(analyst);
    replace(file, 'key,tenant\nLAX,new\n');
    await table.reload();
    await granted(analyst);
    expect(mintedFor(upstream)).toEqual(['old', 'new']);
    replace(file, 'key,tenant\nATL,old\n');
    await table.reload();
    expect(await refused(analyst)).toMatchObject({ status: 403, code: 'NO_TENANT' });
    expect(lines.filter(({ event }) => event === 'tenant_table.loaded')).toHaveLength(2);
  });

  it.each(['key,tenant\nLAX,\n', 'key,tenant\nLAX,unfini', ''])(
    'keeps the earlier table if the new one is %j, and logs it',
    async (text) => {
      const { file, table, granted, upstream, lines } = await startWith('key,tenant\nLAX,old\n');
      replace(file, text);
      await table.reload();
      await granted(analyst);
      expect(mintedFor(upstream)).toEqual(['old']);
      expect(lines.filter(({ level }) => level === 50)).toEqual([
        expect.objectContaining({
          event: 'tenant_table.refused',
          faults: [expect.anything()],
        }),
      ]);
      expect(JSON.stringify(lines)).not.toContain('unfini');
    },
  );

  it('keeps the earlier table if the file is missing, and follows it when it is back', async () => {
    const { file, table, granted, upstream } = await startWith('key,tenant\nLAX,old\n');
    rmSync(file);
    await table.reload();
    await granted(analyst);
    replace(file, 'key,tenant\nLAX,new\n');
    await table.reload();
    await granted(analyst);
    expect(mintedFor(upstream)).toEqual(['old', 'new']);
  });

  it('is noticed without any request, until it is closed', async () => {
    const file = tableFile('key,tenant\nLAX,old\n');
    const table = loadTenantTable(file);
    const { log, lines } = captureLog();
    replace(file, 'key,tenant\nLAX,changed before the watch\n');
    table.watch({ log, everyMs: 20 });
    onTestFinished(() => table.close());
    await vi.waitFor(() => expect(table.current().find('LAX')).toEqual(['changed before the watch']), {
      timeout: 10_000,
    });
    replace(file, 'key,tenant\nLAX,new\n');
    await vi.waitFor(() => expect(table.current().find('LAX')).toEqual(['new']), { timeout: 10_000 });
    expect(lines.length).toBeGreaterThanOrEqual(2);
  });

  it('uses the later of two changes, however fast they follow', async () => {
    const { file, table } = await startWith('key,tenant\nLAX,old\n');
    replace(file, `key,tenant\nLAX,first\n${Array.from({ length: 5_000 }, (_, index) => `k${index},t\n`).join('')}`);
    const first = table.reload();
    replace(file, 'key,tenant\nLAX,second\n');
    await Promise.all([first, table.reload()]);
    expect(table.current().find('LAX')).toEqual(['second']);
  });
});
