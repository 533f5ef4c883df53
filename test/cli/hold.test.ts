/** `guestlist hold` with a running gateway, and `guestlist retention` on a database. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { gatewayToken, startGateway } from '../gateway/harness.js';
import { on } from '../product/moving.js';
import { createMigratedDatabase } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { runCli } from './in-process.js';

const hold = (...args: string[]) => runCli(['hold', ...args], { env: { GUESTLIST_GATEWAY_TOKEN: gatewayToken } });

it('places, lists and ends holds, and says what the gateway and the service know', async () => {
  const { url } = await startGateway();
  const added = await hold('add', '--tenant', 'LAX', '--reason', 'case 4711', '--url', url);
  expect(added).toMatchObject({ code: 0, out: expect.stringMatching(/^tenant LAX is held: [0-9a-f]{10}\n$/) });
  // It never logged in, and the scripted service is of another maker.
  expect(added.err).toMatch(/the audit knows no tenant "LAX" so far/);
  expect(added.err).toMatch(/takes no holds/);
  const all = await hold('add', '--all', '--reason', 'an inspection', '--json', '--url', url);
  expect(JSON.parse(all.out)).toMatchObject({ clientId: null, reason: 'an inspection', service: 'unsupported' });
  const listed = await hold('list', '--url', url);
  const [head, ...lines] = listed.out.trimEnd().split('\n');
  expect(head).toMatch(/^ID +HOLDS +SINCE +BY +REASON$/);
  // Both were placed in the same millisecond.
  expect(lines.map((line) => line.replace(/^\w+ +/, '')).toSorted()).toMatchObject([
    expect.stringMatching(/^all tenants .* an inspection$/),
    expect.stringMatching(/^tenant LAX .* case 4711$/),
  ]);
  const { id } = JSON.parse(all.out);
  expect(await hold('remove', id, '--reason', 'it is over', '--url', url)).toMatchObject({
    code: 0,
    out: `the hold ${id} of all tenants has ended\n`,
  });
  expect(await hold('remove', id, '--reason', 'again', '--url', url)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`There is no hold ${id}`),
  });
});

it('is called wrongly without a tenant, with a tenant and all, and without a reason', async () => {
  const { url } = await startGateway();
  const wrong: [string[], RegExp][] = [
    [['add', '--reason', 'r'], /--tenant ID, or --all/],
    [['add', '--tenant', 'A', '--all', '--reason', 'r'], /cannot be used with/],
    [['add', '--tenant', 'A'], /--reason <text>' not specified/],
    [['remove', 'x'], /--reason <text>' not specified/],
    [['add', '--tenant', 'A', '--reason', ' '], /reason/],
    [['add', '--tenant', '', '--reason', 'r'], /clientId/],
  ];
  for (const [args, message] of wrong)
    expect(await hold(...args, '--url', url), args.join(' ')).toMatchObject({
      code: 2,
      err: expect.stringMatching(message),
    });
});

it('is refused without the gateway token', async () => {
  const { url } = await startGateway();
  const env = { GUESTLIST_GATEWAY_TOKEN: 'x'.repeat(40) };
  for (const args of [['add', '--all', '--reason', 'r'], ['list'], ['remove', 'x', '--reason', 'r']])
    expect(await runCli(['hold', ...args, '--url', url], { env })).toMatchObject({
      code: 1,
      err: expect.stringContaining('AUTHENTICATION_ERROR'),
    });
});

it.skipIf(!(await isPostgresThere()))('says what would go and what holds keep, and changes nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-retention-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { url, drop } = await createMigratedDatabase();
  onTestFinished(drop);
  const count = async (): Promise<unknown> => {
    let rows: unknown;
    await on(url, async (database) => {
      ({ rows } = await sql`select count(*)::int as count from guestlist.usage`.execute(database.connect()));
    });
    return rows;
  };
  await on(url, async (database) => {
    const db = database.connect();
    await sql`insert into guestlist.usage
      select now() - interval '2000 days', 'app', client, '', '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
      from unnest(array['LAX', 'ATL', 'BUR']) as client`.execute(db);
    await sql`insert into guestlist.client_holds values ('app', 'LAX', '')`.execute(db);
  });
  const file = join(folder, 'guestlist.yaml');
  await writeFile(file, 'demo: false\nretention: { auditDays: 30, archiveFolder: ./archive }\n');
  const env = { DATABASE_URL: url, GUESTLIST_DATA_DIR: folder, GUESTLIST_CONFIG: file };
  const before = await count();
  const ran = await runCli(['retention', '--dry-run'], { env });
  expect(ran.out).toMatch(/^KIND +WOULD GO +HELD\naudit +0 +0\n(.*\n)*usage +2 +1\n/);
  expect(ran.out).toMatch(/Last sweep of the gateway: .*\nLast sweep of the service: /);
  expect(await count()).toEqual(before);
  const alone = await runCli(['retention', '--dry-run', '--only', 'gateway', '--json'], { env });
  expect(JSON.parse(alone.out)).toMatchObject([{ half: 'gateway', kinds: [{ kind: 'audit' }, {}, {}, {}] }]);
  expect(await runCli(['retention'], { env })).toMatchObject({ code: 2, err: expect.stringContaining('--dry-run') });
  await writeFile(file, 'demo: false\nretention: { auditDays: 29, archiveFolder: ./archive }\n');
  expect((await runCli(['retention', '--dry-run'], { env })).err).toMatch(
    /at least retention\.explanationsDays \(30\)/,
  );
  await writeFile(file, 'demo: false\nretention: { auditDays: 30 }\n');
  expect(await runCli(['retention', '--dry-run'], { env })).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /guestlist\.yaml:2:\d+: retention\.auditDays: needs a folder: .*Add retention\.archiveFolder/,
    ),
  });
});
