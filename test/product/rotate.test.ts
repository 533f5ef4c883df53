/** `guestlist rotate`: each step leaves every process that runs able to open every secret. rotate.long.test.ts does it under load. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
// The embedded database changes globals that modules of the command line read while they load.
import '../../src/cli/rotate.js';
import { sealedColumns } from '../../src/compose/reseal.js';
import { createSealer, type KeyRing, markOf, readKeyRing } from '../../src/platform/keys/sealing.js';
import { openCanary } from '../../src/service/store/key-canary.js';
import { recipientsContext } from '../../src/service/store/schedules.js';
import { isPostgresThere } from '../suites/postgres.js';
import { makeFilled, makeFolder, makeTemplate, runAt } from './installations.js';
import { on } from './moving.js';
import { addOrganization, plantTenant } from './tenant-rows.js';

const hasServer = await isPostgresThere();
const template = 'rotated';
beforeAll(async () => {
  if (hasServer) await makeTemplate(template);
});

const old: KeyRing = [Buffer.alloc(32, 1)];
const textOf = (ring: KeyRing): string => ring.map((key) => key.toString('base64')).join(',');

const makeInstallation = async () => {
  const where = { folder: await makeFolder(), server: await makeFilled(template) };
  const planted = await on(where.server, async (database) => {
    await openCanary(database.connect(), {
      ring: old,
      keySource: 'the test',
      columns: sealedColumns,
      acceptsLoss: false,
    });
    const organization = await addOrganization(database);
    return plantTenant(database, organization, { clientId: 'acme', mark: 'ACME', sealer: createSealer(...old) });
  });
  const recipients = () =>
    on(where.server, async (database) => {
      const { rows } = await sql<{ recipients: string }>`
        select recipients from guestlist.schedules where id = ${planted.schedule}`.execute(database.connect());
      return rows[0]?.recipients ?? '';
    });
  const opens = async (ring: KeyRing) =>
    createSealer(...ring).open(await recipients(), recipientsContext(planted.schedule));
  const rotate = (ring: KeyRing, ...args: readonly string[]) =>
    runAt(where, ['rotate', ...args], {
      GUESTLIST_ENCRYPTION_KEY: textOf(ring),
      GUESTLIST_GATEWAY_TOKEN: 'g'.repeat(40),
    });
  const file = (name: string): string => join(where.folder, name);
  const ringIn = async (name: string): Promise<KeyRing> => {
    const ring = readKeyRing(await readFile(file(name), 'utf8'));
    if (ring === undefined) throw new Error(`${name} holds no keys`);
    return ring;
  };
  return { where, rotate, opens, file, ringIn };
};

const stepsAt = (server: string) =>
  on(server, async (database) => {
    const { rows } = await sql<{ step: string }>`
      select content::jsonb -> 'detail' ->> 'step' as step from guestlist_gateway.audit_events
      where content like '%"command":"rotate"%' order by seq`.execute(database.connect());
    return rows.map(({ step }) => step);
  });

describe.skipIf(!hasServer)('a rotation of the encryption key', () => {
  it('adds a key, then seals with it, then reseals; the keys of the step before open everything at each step', async () => {
    const { where, rotate, opens, file, ringIn } = await makeInstallation();
    const added = await rotate(old, '--begin', '--to', file('one'));
    expect(added).toMatchObject({ code: 0, err: '', out: expect.stringContaining('does not seal yet') });
    const one = await ringIn('one');
    expect(one.map(markOf)).toEqual([markOf(old[0]), expect.any(String)]);
    expect(added.out).not.toContain(one[1]?.toString('base64'));
    expect(await opens(old)).toBe('recipients ACME');

    expect(await rotate(one, '--to', file('two'))).toMatchObject({ code: 0, err: '' });
    const two = await ringIn('two');
    expect(two).toEqual(one.toReversed());
    expect(await opens(old)).toBe('recipients ACME');

    const resealed = await rotate(two, '--to', file('three'));
    expect(resealed).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/Sealed anew: \d+.*the rotation has ended/s),
    });
    const three = await ringIn('three');
    expect(three).toEqual([two[0]]);
    for (const ring of [one, two, three]) expect(await opens(ring)).toBe('recipients ACME');
    await expect(opens(old)).rejects.toThrow('was sealed with another key');

    const after = await rotate(three);
    expect(after).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Nothing was changed') });
    expect(await stepsAt(where.server)).toEqual(['added', 'first', 'resealed']);
    expect(await rotate(old)).toMatchObject({ code: 1, err: expect.stringContaining('Set GUESTLIST_ENCRYPTION_KEY') });
  });

  it('lists each secret with its age and how it is rotated, and changes nothing unless it is told to begin', async () => {
    const { where, rotate, file } = await makeInstallation();
    await on(where.server, async (database) => {
      const db = database.connect();
      await sql`insert into guestlist.service_tokens (id, name, hash, created_at)
        values ('s', 'deployment', repeat('a', 64), now() - interval '40 days')`.execute(db);
      await sql`insert into guestlist.datasources (id, name, datasource_type, sealed) values ('d', 'shop', 'POSTGRES',
        ${createSealer(...old).seal('password', 'd')})`.execute(db);
    });
    const { code, out } = await rotate(old);
    expect(code).toBe(0);
    expect(out).toMatch(/service token deployment +the database, as a hash +40 days/);
    expect(out).toMatch(/password of the datasource shop +the database, sealed +- /);
    expect(out).toMatch(new RegExp(`encryption key ${markOf(old[0])} +GUESTLIST_ENCRYPTION_KEY`));
    expect(out).toMatch(/GUESTLIST_GATEWAY_TOKEN/);
    expect(out).toContain('Nothing was changed');
    expect(await stepsAt(where.server)).toEqual([]);
    expect(await rotate(old, '--begin')).toMatchObject({ code: 1, err: expect.stringContaining('name a new file') });
    expect(await stepsAt(where.server)).toEqual([]);
    expect(await rotate(old, '--begin', '--to', file('one'))).toMatchObject({ code: 0 });
    expect(await rotate(old, '--tokens', file('one'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('exists already'),
    });
    expect(await rotate(old, '--begin', '--to', file('one'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('exists already'),
    });
  });
});

describe.skipIf(!hasServer)('a rotation of a secret in a variable', () => {
  const hook = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
  const host = 'h'.repeat(40);

  it('adds a value that holds beside the old one, and at the next run takes the old one away', async () => {
    const { where, file } = await makeInstallation();
    const usual = { GUESTLIST_ENCRYPTION_KEY: textOf(old) };
    const next = async (name: string) => (await readFile(file(name), 'utf8')).trim();
    for (const [variable, value] of [
      ['GUESTLIST_HOOK_SECRETS', hook],
      ['GUESTLIST_HOST_JWT_SECRET', host],
      ['GUESTLIST_GATEWAY_TOKEN', host],
    ] as const) {
      const rotate = (text: string, name: string) =>
        runAt(where, ['rotate', '--secret', variable, '--to', file(name)], { ...usual, [variable]: text });
      const added = await rotate(value, `${variable}-1`);
      expect(added).toMatchObject({ code: 0, err: '', out: expect.stringContaining('both hold') });
      const both = await next(`${variable}-1`);
      const [first, second = '', ...others] = both.split(' ');
      expect([first, others]).toEqual([value, []]);
      expect(second.length).toBeGreaterThanOrEqual(32);
      for (const secret of [value, second]) expect(added.out).not.toContain(secret);
      const listed = await runAt(where, ['rotate'], { ...usual, [variable]: both });
      expect(listed.out).toContain(`two values hold: guestlist rotate --secret ${variable} ends the rotation`);
      const ended = await rotate(both, `${variable}-2`);
      expect(ended).toMatchObject({ code: 0, err: '', out: expect.stringContaining('new value alone') });
      expect(await next(`${variable}-2`)).toBe(second);
    }
  });

  it('refuses what it cannot rotate, and says what it can, without a secret', async () => {
    const { where, file } = await makeInstallation();
    const usual = { GUESTLIST_ENCRYPTION_KEY: textOf(old), GUESTLIST_HOOK_SECRETS: [hook, hook, hook].join(' ') };
    const rotate = (...args: readonly string[]) => runAt(where, ['rotate', '--secret', ...args], usual);
    const unknown = await rotate('GUESTLIST_API_KEY', '--to', file('one'));
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('There are: GUESTLIST_HOOK_SECRETS.') });
    const many = await rotate('GUESTLIST_HOOK_SECRETS', '--to', file('one'));
    expect(many).toMatchObject({ code: 1, err: expect.stringContaining('more than two values') });
    for (const { err } of [unknown, many]) expect(err).not.toContain(hook);
    expect(await rotate('GUESTLIST_HOOK_SECRETS')).toMatchObject({ code: 2, err: expect.stringContaining('--to') });
  });
});
