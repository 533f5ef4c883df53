/** `guestlist export-tenant` and `import-tenant`: what one tenant has goes elsewhere, and nothing of another one. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
// The embedded database changes globals that modules of the command line read while they load.
import '../../src/cli/tenant-file.js';
import { readSealed } from '../../src/compose/move/backup.js';
import { sealedColumns } from '../../src/compose/reseal.js';
import { verifyAudit } from '../../src/gateway/audit/read.js';
import { type LedgerTables, schemaName as ledgerSchema } from '../../src/gateway/ledger/tables.js';
import { createSealer, type KeyRing } from '../../src/platform/keys/sealing.js';
import { openCanary } from '../../src/service/store/key-canary.js';
import { recipientsContext, stateContext } from '../../src/service/store/schedules.js';
import { isPostgresThere } from '../suites/postgres.js';
import {
  backupKey,
  type Installation,
  makeFilled,
  makeFolder,
  makeServer,
  makeTemplate,
  restore,
  runAt,
  tenants,
} from './installations.js';
import { contentAt, on } from './moving.js';
import { addOrganization, type PlantedTenant, plantTenant, rowsAt } from './tenant-rows.js';

const hasServer = await isPostgresThere();
const template = 'tenants';
beforeAll(async () => {
  if (hasServer) await makeTemplate(template);
});

const ringOf = (key: number): KeyRing => [Buffer.alloc(32, key)];
type Served = Required<Installation> & { readonly ring: KeyRing };

const envOf = ([key]: KeyRing) => ({ GUESTLIST_ENCRYPTION_KEY: key.toString('base64') });
const run = (where: Served, ...args: readonly string[]) => runAt(where, args, envOf(where.ring));

/** An installation with what tenants' rows name, and with a key of its own. */
const makeInstallation = async (
  key: number,
  isEmpty = false,
): Promise<Served & { readonly organization: Awaited<ReturnType<typeof addOrganization>> | null }> => {
  const where = { folder: await makeFolder(), server: await makeFilled(template), ring: ringOf(key) };
  const organization = await on(where.server, async (database) => {
    await openCanary(database.connect(), {
      ring: where.ring,
      keySource: 'the test',
      columns: sealedColumns,
      acceptsLoss: false,
    });
    return isEmpty ? null : addOrganization(database);
  });
  return { ...where, organization };
};

/** An installation with two tenants, and the file of the first one. */
const makeExported = async () => {
  const first = await makeInstallation(1);
  const { organization } = first;
  if (organization === null) throw new Error('the first installation has an organization');
  const plant = (clientId: string, mark: string): Promise<PlantedTenant> =>
    on(first.server, (database) =>
      plantTenant(database, organization, { clientId, mark, sealer: createSealer(...first.ring) }),
    );
  const planted = await plant('acme', 'TEXT-OF-ACME');
  await plant('globex', 'TEXT-OF-GLOBEX');
  const file = join(first.folder, 'acme.tenant');
  const exported = await run(first, 'export-tenant', 'acme', '--to', file);
  return { first, planted, file, exported };
};

/** Adds reports of the host to all tenants with a copy of the template, which these recipients have ended. */
const addHostReports = async (
  { server, organization }: Awaited<ReturnType<typeof makeInstallation>>,
  names: readonly string[],
  ended: readonly string[],
): Promise<readonly string[]> => {
  if (organization === null) throw new Error('the installation has no organization');
  const { dataApp, template: board } = organization;
  return on(server, async (database) => {
    const db = database.connect();
    const ids = names.map((name) => [randomUUID(), name] as const);
    for (const [id, name] of ids) {
      await sql`insert into guestlist.schedules (id, dashboard_id, opened_id, data_app_id, client_id, user_identifier, name,
          format, recurrence, catch_up, is_paused, created_at)
        values (${id}, ${board}, 'delays', ${dataApp}, '', '', ${name}, 'pdf', '{}', 'skip', false, now())`.execute(db);
      for (const recipient of ended)
        await sql`insert into guestlist.schedule_stops (schedule_id, recipient, stopped_at)
          values (${id}, ${recipient}, now())`.execute(db);
    }
    return ids.map(([id]) => id);
  });
};

const stopsAt = (server: string, scheduleIds: readonly string[]) =>
  on(server, async (database) => {
    const { rows } = await sql<{ name: string; recipient: string }>`
      select name, recipient from guestlist.schedule_stops join guestlist.schedules on id = schedule_id
      where id = any(${[...scheduleIds]}::text[])`.execute(database.connect());
    return rows.map(({ name, recipient }) => [name, recipient]).toSorted();
  });

const auditedAt = (server: string) =>
  on(server, async (database) => {
    const { rows } = await sql<{ content: string }>`
      select content from guestlist_gateway.audit_events order by seq desc limit 1`.execute(database.connect());
    return JSON.parse(rows[0]?.content ?? '{}');
  });

const contentOfFile = async (file: string): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of readSealed(file, [Buffer.from(backupKey, 'base64')])) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
};

describe.skipIf(!hasServer)('the file of a tenant', () => {
  it('holds what the tenant has, and nothing of another tenant, of the organization or of a token', async () => {
    const { file, exported, first } = await makeExported();
    expect(exported).toMatchObject({ code: 0, err: '' });
    expect(exported.out).toMatch(/Exported 13 rows of .*was read again and is whole/s);
    expect(exported.out).toMatch(
      /data app portal\n {2}metric on time of the workspace Flights\n {2}template delays\n {2}workspace Flights/,
    );
    const text = await contentOfFile(file);
    expect(text).toContain('recipients TEXT-OF-ACME');
    expect(text).toContain('bob TEXT-OF-ACME');
    for (const strange of ['GLOBEX', 'globex', 'TEXT-OF-TEMPLATE', 'TEXT-OF-ORGANIZATION', 'TOKEN', 'ADDRESS', 'bulk-'])
      expect(text).not.toContain(strange);
    expect((await readFile(file)).includes('TEXT-OF-ACME')).toBe(false);
    expect(await auditedAt(first.server)).toMatchObject({
      kind: 'admin',
      detail: { command: 'export-tenant' },
      tenant: expect.any(String),
    });
    const [again, unknown] = [
      await run(first, 'export-tenant', 'acme', '--to', file),
      await run(first, 'export-tenant', 'Acme', '--to', join(first.folder, 'other')),
    ];
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('exists already') });
    expect(unknown).toMatchObject({
      code: 1,
      err: expect.stringContaining('There is nothing of a tenant "Acme" here'),
    });
  });

  it('is refused while there is a table of which nobody has decided whether it is in the file', async () => {
    const { first } = await makeExported();
    await on(first.server, (database) =>
      sql`create table guestlist.later (client_id text)`.execute(database.connect()),
    );
    expect(await run(first, 'export-tenant', 'acme', '--to', join(first.folder, 'other'))).toMatchObject({
      code: 1,
      err: expect.stringMatching(/guestlist\.later: this version does not know whether rows of tenants/),
    });
    expect(await readdir(first.folder)).not.toContain('other');
  });
});

describe.skipIf(!hasServer)('an import of a tenant', () => {
  it('brings its rows to another installation, under the names that are there, sealed with the key that is there', async () => {
    const { planted, file } = await makeExported();
    const second = await makeInstallation(2);
    const before = await contentAt(second.server);
    const dry = await run(second, 'import-tenant', file, '--dry-run');
    expect(dry).toMatchObject({ code: 0, err: '' });
    expect(dry.out).toMatch(/Would import 13 rows .*"acme".*The tenant is active\.\nNothing was written\./s);
    expect(await contentAt(second.server)).toEqual(before);
    expect(await run(second, 'import-tenant', file)).toMatchObject({ code: 0, err: '' });
    const [row, ...others] = await rowsAt(second.server, 'acme');
    const { organization, ring } = second;
    expect(others).toEqual([]);
    const card = { metricId: planted.metric, x: 0, y: 0, w: 6, h: 4 };
    expect(row).toMatchObject({
      ...{ board: planted.board, metric: planted.metric, guestMetric: planted.guestMetric, schedule: planted.schedule },
      ...{ name: 'delays--acme', embed: 'delays--acme', opened: 'delays--acme', tenantState: 'active', queries: 3 },
      ...{ dataApp: organization?.dataApp, workspace: organization?.workspace, template: organization?.template },
      lineage: [organization?.metric],
      layout: [card],
      // As it was written: a number keeps its digits.
      filters: '[{"x": 1.10}]',
    });
    const sealer = createSealer(...ring);
    expect(sealer.open(String(row?.state), stateContext(planted.schedule, null))).toBe('state TEXT-OF-ACME');
    expect(sealer.open(String(row?.recipients), recipientsContext(planted.schedule))).toBe('recipients TEXT-OF-ACME');
    expect(sealer.open(String(row?.bob), stateContext(planted.schedule, 'bob'))).toBe('bob TEXT-OF-ACME');
    expect(await auditedAt(second.server)).toMatchObject({
      kind: 'admin',
      detail: { command: 'import-tenant', rows: 13 },
    });
    const verified = await on(second.server, (database) =>
      verifyAudit({ db: database.connect<LedgerTables>().withSchema(ledgerSchema) }),
    );
    expect(verified).toMatchObject({ fault: null, entries: tenants + 1 });
  });

  it('under another id of the same installation gives new ids wherever they are named, and leaves the first tenant', async () => {
    const { first, planted } = await makeExported();
    await on(first.server, (database) =>
      sql`update guestlist_gateway.tenants set state = 'suspended', suspended_at = now() where client_id = 'acme'`.execute(
        database.connect(),
      ),
    );
    const file = join(first.folder, 'suspended.tenant');
    expect((await run(first, 'export-tenant', 'acme', '--to', file)).code).toBe(0);
    const [before] = await rowsAt(first.server, 'acme');
    const imported = await run(first, 'import-tenant', file, '--as', 'Acme & Söhne');
    expect(imported).toMatchObject({ code: 0, err: '' });
    expect(imported.out).toMatch(/6 of them get new ids.*delays--acme -> delays--Acme~20~26~20S~C3~B6hne/s);
    const [row] = await rowsAt(first.server, 'Acme & Söhne');
    const { board, metric, guestMetric, schedule } = row ?? {};
    for (const id of [board, metric, guestMetric, schedule]) expect(Object.values(planted)).not.toContain(id);
    const card = { metricId: metric, x: 0, y: 0, w: 6, h: 4 };
    expect(row).toMatchObject({
      metadata: { guestlist: { template: 'delays', clientId: 'Acme & Söhne' } },
      // Who was shut out stays so.
      tenantState: 'suspended',
      ...{ name: 'delays--Acme~20~26~20S~C3~B6hne', layout: [card], lineage: [first.organization?.metric] },
      ...{ own: { cards: [card], known: [metric, guestMetric] }, content: { layout: [card], tiles: [] } },
      ...{ choices: { metricFilter: { [String(metric)]: { State: 'TEXT-OF-ACME' } } }, alert: { metricId: metric } },
    });
    expect(createSealer(...first.ring).open(String(row?.state), stateContext(String(schedule), null))).toBe(
      'state TEXT-OF-ACME',
    );
    expect((await rowsAt(first.server, 'acme'))[0]).toEqual(before);
    const after = await contentAt(first.server);
    expect(await run(first, 'import-tenant', file)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/has rows here already \(1 of dashboards.*--as/),
    });
    expect(await contentAt(first.server)).toEqual(after);
  });

  it('keeps what its users ended of the host’s reports, by the names of the reports, and what no other tenant ended', async () => {
    const { first } = await makeExported();
    const second = await makeInstallation(2);
    const ann = (clientId: string): string => JSON.stringify([clientId, 'ann']);
    const strangers = [JSON.stringify(['globex', 'STRANGER']), JSON.stringify(['acme"', 'STRANGER'])];
    const here = await addHostReports(first, ['weekly', 'monthly'], [ann('acme'), ...strangers]);
    const there = await addHostReports(second, ['weekly'], []);
    const file = join(first.folder, 'ended.tenant');
    expect((await run(first, 'export-tenant', 'acme', '--to', file)).code).toBe(0);
    expect(await contentOfFile(file)).not.toContain('STRANGER');
    const imported = await run(second, 'import-tenant', file);
    expect(imported).toMatchObject({ code: 0, out: expect.stringContaining("had ended 1 of the host's reports") });
    expect(await stopsAt(second.server, there)).toEqual([['weekly', ann('acme')]]);
    const before = await stopsAt(first.server, here);
    expect((await run(first, 'import-tenant', file, '--as', 'copy')).out).not.toContain('had ended');
    expect(await stopsAt(first.server, here)).toEqual(
      [...before, ['monthly', ann('copy')], ['weekly', ann('copy')]].toSorted(),
    );
  });

  it('lists all that is missing, and refuses other files, other keys and changed bytes, without writing', async () => {
    const { first, file } = await makeExported();
    const second = await makeInstallation(2, true);
    const before = await contentAt(second.server);
    const missing = await run(second, 'import-tenant', file);
    expect(missing.code).toBe(1);
    expect(missing.err).toMatch(
      /not in this installation.*data app "portal"\n {2}metric "on time" of the workspace "Flights"\n {2}template "delays"\n {2}workspace "Flights"\n/s,
    );
    const bytes = await readFile(file);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 40) ^ 1, bytes.length - 40);
    const changed = join(first.folder, 'changed');
    await writeFile(changed, bytes);
    expect(await run(second, 'import-tenant', changed)).toMatchObject({
      code: 1,
      err: expect.stringContaining('was changed'),
    });
    const other = { ...envOf(second.ring), GUESTLIST_BACKUP_KEY: Buffer.alloc(32, 3).toString('base64') };
    expect(await runAt(second, ['import-tenant', file], other)).toMatchObject({
      code: 1,
      err: expect.stringContaining('The key does not open'),
    });
    const whole = join(second.folder, 'whole.backup');
    await runAt(second, ['backup', '--to', whole], envOf(second.ring));
    expect(await run(second, 'import-tenant', whole)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is the backup of an installation'),
    });
    expect(await contentAt(second.server)).toEqual(before);
    const empty = { folder: await makeFolder(), server: await makeServer() };
    expect(await restore(file, empty)).toMatchObject({
      code: 1,
      err: expect.stringContaining('the file of one tenant'),
    });
    expect(await readdir(empty.folder)).toEqual([]);
  });
});
