/** What an operator is told of a file that cannot be used: why, and how to mend it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileFault } from '../../src/platform/files/file-faults.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-file-faults-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const failed = (code: string): Error => Object.assign(new Error('the text of the system'), { code });

test.each([
  ['EROFS', /its file system is mounted read-only\. Mount it writable/],
  ['ENOSPC', /the disk is full\. Free some space/],
  ['EDQUOT', /the disk is full\. Free some space/],
  ['ENOTDIR', /a file stands where a folder is needed\. Move the file away/],
  ['EEXIST', /a file stands where a folder is needed\. Move the file away/],
  ['EIO', /the disk reports an error\. Check the disk, and restore the data folder from a backup/],
  ['EMFILE', /check that the folder is there and that this process may use it/],
])('a file that fails with %s names the file, the code and how to mend it', async (code, mend) => {
  const cause = failed(code);
  const fault = await fileFault('/data/keys', 'written', cause);
  expect(fault.message).toMatch(new RegExp(`^/data/keys cannot be written \\(${code}\\): `));
  expect(fault.message).toMatch(mend);
  expect(fault.message).not.toContain('the text of the system');
  expect(fault.cause).toBe(cause);
});

test.each(['EACCES', 'EPERM'])('a file of another user names its owner and its mode (%s)', async (code) => {
  const file = join(folder, 'keys');
  await writeFile(file, '', { mode: 0o600 });
  const { message } = await fileFault(file, 'read', failed(code));
  const user = process.getuid?.();
  expect(message).toContain(`it belongs to user ${user} with mode 600, and this process runs as user ${user}`);
  expect(message).toContain(`chown -R ${user} ${file}`);
});

test('a file in a folder that lets nobody in says so', async () => {
  const { message } = await fileFault(join(folder, 'nowhere', 'keys'), 'read', failed('EACCES'));
  expect(message).toContain('its folder does not let this process in');
});

test('a failure without a code of the system is explained without one', async () => {
  for (const cause of [new Error('odd'), 'odd', undefined]) {
    const { message } = await fileFault('/data/keys', 'opened', cause);
    expect(message).toMatch(/^\/data\/keys cannot be opened: check that the folder is there/);
  }
});
