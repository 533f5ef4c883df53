/** `guestlist export-tenant` and `import-tenant` with data folders: tenant-file.test.ts has the rest. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
// The embedded database changes globals that modules of the command line read while they load.
import '../../src/cli/tenant-file.js';
import { sealedColumns } from '../../src/compose/reseal.js';
import { createSealer, type KeyRing } from '../../src/platform/keys/sealing.js';
import { openCanary } from '../../src/service/store/key-canary.js';
import { recipientsContext } from '../../src/service/store/schedules.js';
import { fillFolder, makeFolder, runAt } from './installations.js';
import { on } from './moving.js';
import { addOrganization, plantTenant, rowsAt } from './tenant-rows.js';

const makeInstallation = async (key: number) => {
  const folder = await makeFolder();
  const ring: KeyRing = [Buffer.alloc(32, key)];
  await fillFolder(folder);
  const organization = await on(folder, async (database) => {
    await openCanary(database.connect(), { ring, keySource: 'the test', columns: sealedColumns, acceptsLoss: false });
    return addOrganization(database);
  });
  const run = (...args: readonly string[]) =>
    runAt({ folder }, args, { GUESTLIST_ENCRYPTION_KEY: ring[0].toString('base64') });
  return { folder, ring, organization, run };
};

test('a tenant goes from a data folder to another one, neither of which may be in use', async () => {
  const [first, second] = [await makeInstallation(1), await makeInstallation(2)];
  const planted = await on(first.folder, (database) =>
    plantTenant(database, first.organization, {
      ...{ clientId: 'acme', mark: 'TEXT-OF-ACME', sealer: createSealer(...first.ring) },
    }),
  );
  const file = join(first.folder, 'acme.tenant');
  const exportIt = () => first.run('export-tenant', 'acme', '--to', file);
  expect(await on(first.folder, exportIt)).toMatchObject({
    code: 1,
    err: expect.stringContaining('Guestlist is running on the embedded database'),
  });
  expect(await exportIt()).toMatchObject({ code: 0, err: '' });
  expect(await on(second.folder, () => second.run('import-tenant', file))).toMatchObject({ code: 1 });
  expect(await second.run('import-tenant', file)).toMatchObject({ code: 0, err: '' });
  const [row, ...others] = await rowsAt(second.folder, 'acme');
  expect(others).toEqual([]);
  expect(row).toMatchObject({
    ...{ board: planted.board, dataApp: second.organization.dataApp, template: second.organization.template },
    ...{ lineage: [second.organization.metric], queries: 3, tenantState: 'active' },
  });
  const sealer = createSealer(...second.ring);
  expect(sealer.open(String(row?.recipients), recipientsContext(planted.schedule))).toBe('recipients TEXT-OF-ACME');
});
