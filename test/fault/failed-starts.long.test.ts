/**
 * Starts that must fail: each process ends by itself, reports what is wrong, where and how to fix it, and leaves
 * nothing behind.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runToEnd } from '../product/product.js';

const policies = fileURLToPath(new URL('../../config/policies/flights.yaml', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-starts-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the product with `config` merged into a valid configuration. */
const startWith = async (name: string, config: object, env: Readonly<Record<string, string>> = {}) => {
  const file = join(folder, `${name}.yaml`);
  const dataDir = join(folder, name);
  await writeFile(file, JSON.stringify({ gateway: { policies }, ...config }));
  const ended = await runToEnd(['serve'], {
    GUESTLIST_CONFIG: file,
    GUESTLIST_DATA_DIR: dataDir,
    GUESTLIST_HOST_JWT_SECRET: 'a'.repeat(40),
    GUESTLIST_API_KEY: '7e57ab1e-0000-4000-8000-000000000000',
    ...env,
  });
  return { ...ended, file, isLocked: existsSync(join(dataDir, 'metadata.lock.pid')) };
};

describe('a start that fails ends the process with an exit code and a message', () => {
  it("a policy with a fault: code 2 and the fault's place", async () => {
    const path = join(folder, 'wrong-policy.yaml');
    await writeFile(path, 'version: 1\nnonsense: true\n');
    const { code, output, isLocked } = await startWith('policy', { gateway: { policies: path } });
    expect([code, isLocked]).toEqual([2, false]);
    expect(output).toMatch(/policy has \d+ fault/);
    expect(output).toContain(`${path}:2`);
  });

  it('a missing policy file: code 2 and its path', async () => {
    const path = join(folder, 'absent.yaml');
    const { code, output, isLocked } = await startWith('absent', { gateway: { policies: path } });
    expect([code, isLocked]).toEqual([2, false]);
    expect(output).toContain(path);
  });

  it('a missing configuration file: code 2 and its path', async () => {
    const { code, output } = await startWith('no-file', {}, { GUESTLIST_CONFIG: join(folder, 'nowhere.yaml') });
    expect([code, output]).toEqual([2, expect.stringContaining('nowhere.yaml')]);
  });

  it('malformed URLs of both databases: code 2 and what they must be', async () => {
    const urls = { REDIS_URL: 'redis:/localhost', DATABASE_URL: 'mysql://ana:geheim@127.0.0.1/x' };
    const { code, output, isLocked } = await startWith('urls', {}, urls);
    expect([code, isLocked]).toEqual([2, false]);
    expect(output).toContain('redis://host:port');
    expect(output).toContain('postgres://user:password@host:port/database');
    expect(output).not.toContain('geheim');
  });

  it('a DATABASE_URL that the server refuses: code 1, its place and the reason, without its password', async () => {
    const { code, output } = await startWith('refused', {}, { DATABASE_URL: 'postgres://ana:geheim@127.0.0.1:1/x' });
    expect(code).toBe(1);
    expect(output).toContain('DATABASE_URL');
    expect(output).toContain('127.0.0.1:1/x');
    expect(output).toContain('ECONNREFUSED');
    expect(output).not.toContain('geheim');
  });

  it('a port that is in use: code 1, its number and its setting', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const { code, output } = await startWith('port', {}, { PORT: port });
    other.close();
    expect(code).toBe(1);
    expect(output).toMatch(new RegExp(`127\\.0\\.0\\.1:${port} is taken.*PORT`));
  });
});
