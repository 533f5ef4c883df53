/** What `guestlist init` refuses, and what it writes to .gitignore; init.long.test.ts runs it on each database. */
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ignoreFile } from '../../src/cli/init/files.js';
import { runOnFile } from '../suites/duckdb-file.js';
import { runCli } from './in-process.js';

test('.gitignore gets the lines that it lacks, and nothing twice', () => {
  const whole = 'data/\nguestlist.env\n';
  expect(['', 'data/', '*.log\r\nguestlist.env\r\n', whole].map(ignoreFile)).toEqual([
    whole,
    whole,
    '*.log\r\nguestlist.env\r\ndata/\n',
    whole,
  ]);
});

describe('what it cannot do', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guestlist-init-'));
    await mkdir(join(folder, 'sources'));
    await runOnFile(join(folder, 'sources/plain.duckdb'), [
      'CREATE TABLE numbers (n INTEGER)',
      'CREATE TABLE customers (id INTEGER PRIMARY KEY)',
    ]);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each([
    ['without a database', [], 2, '--database'],
    ['of an unknown kind', ['--database', 'oracle://u:hidden@h/d'], 2, 'unknown kind of database'],
    ['a server that does not answer', ['--database', 'postgres://u:hidden@127.0.0.1:9/d'], 1, '127.0.0.1:9/d'],
    ['an unknown table', ['--database', 'sources/plain.duckdb', '--tenant-table', 'nobody'], 2, 'main.numbers'],
    [
      'an unknown column',
      ['--database', 'sources/plain.duckdb', '--client-column', 'nobody'],
      2,
      'no table has a column',
    ],
    ['no rows', ['--database', 'sources/plain.duckdb'], 1, 'nothing to show'],
    ['a port out of range', ['--port', '0'], 2, '--port'],
    ['an origin with a path', ['--database', 'sources/plain.duckdb', '--origin', 'https://a.example/b'], 2, '--origin'],
  ])('%s: one message, and no file', async (_, flags, code, message) => {
    const ended = await runCli(['init', '--yes', ...flags], { cwd: folder });
    const output = ended.out + ended.err;
    expect([ended.code, output]).toEqual([code, expect.stringContaining(message)]);
    expect(output).not.toContain('hidden');
    await expect(stat(join(folder, 'guestlist.yaml'))).rejects.toThrow('ENOENT');
  });
});
