/** The image is built and run as in production, and a tenant reads its first chart from it. Needs Buildah, Podman and root. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { placeFlights } from '../suites/flights.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { freePort } from '../suites/redis.js';
import { type BuiltImage, buildImage, canBuildImages } from './buildah.js';
import { read, root } from './files.js';

const secret = (): string => randomBytes(36).toString('base64');
const secrets = {
  GUESTLIST_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  GUESTLIST_SERVICE_TOKEN: secret(),
  GUESTLIST_GATEWAY_TOKEN: secret(),
  GUESTLIST_HOST_JWT_SECRET: secret(),
};
/** As compose.yaml runs it. A sandbox may not raise its limits, so these are low. */
const asInProduction = [
  ...['--read-only', '--tmpfs=/tmp', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--network=host'],
  ...['--ulimit=nofile=4096:4096', '--ulimit=nproc=4096:4096'],
];

describe.runIf(canBuildImages() && (await isPostgresThere()))('container', () => {
  let image: BuiltImage;
  let metadata: OwnDatabase;
  let data: string;
  let port: number;
  const url = () => `http://127.0.0.1:${port}`;
  const flags = (variables: Readonly<Record<string, string>>) =>
    Object.entries(variables).map(([name, value]) => `--env=${name}=${value}`);
  const shell = (script: string) =>
    image.podman('run', '--rm', ...asInProduction, '--entrypoint=sh', image.name, '-c', script);

  beforeAll(async () => {
    [image, metadata, port] = await Promise.all([buildImage(), createOwnDatabase(), freePort()]);
    data = join(image.folder, 'data');
    await placeFlights(join(data, 'demo/flights.duckdb'));
    const settings = { policies: 'flights.yaml' };
    const config = { datasources: { duckdbFolders: [join(data, 'demo')] }, gateway: settings };
    await writeFile(join(data, 'guestlist.yaml'), JSON.stringify(config));
    await writeFile(join(data, 'flights.yaml'), read('config/policies/flights.yaml'));
    for (const folder of [image.folder, data]) await chmod(folder, 0o755);
  }, 600_000);
  afterAll(async () => {
    await image?.remove();
    await metadata?.drop();
  }, 120_000);

  const start = (name: string): Promise<string> =>
    image.podman(
      ...['run', '--detach', `--name=${name}`, ...asInProduction, `--volume=${data}:${data}:ro`],
      ...flags({
        ...secrets,
        ...{ DATABASE_URL: metadata.url, PORT: String(port), GUESTLIST_CONFIG: join(data, 'guestlist.yaml') },
      }),
      image.name,
    );
  const untilReady = async (name: string): Promise<void> => {
    for (;;) {
      const answered = await fetch(`${url()}/readyz`).catch(() => null);
      if (answered?.ok === true) return;
      const state = await image.podman('inspect', '--format={{.State.Status}}', name);
      if (state.trim() !== 'running') throw new Error(await image.podman('logs', name));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };

  test('runs as a user that can write to its data folder and to /tmp alone', async () => {
    expect((await shell('id -u; touch /data/x /tmp/x && echo written')).trim()).toBe('10001\nwritten');
    for (const folder of ['/app', '/', '/etc', '/usr/local/bin'])
      await expect(shell(`touch ${folder}/x`)).rejects.toThrow();
  });

  test('holds no package manager, no test, and nothing of the registry that it was built with', async () => {
    expect(await shell('command -v npm npx corepack yarn || true')).toBe('');
    expect(await shell('find / -xdev -name "*npmrc*" -size +0 2>/dev/null || true')).toBe('');
    expect(await shell('ls -d node_modules/vitest node_modules/typescript test src 2>/dev/null || true')).toBe('');
    expect(await shell('grep -c pkg:npm/express@ sbom.cdx.json')).not.toBe('0\n');
  });

  test('refuses to start without its secrets, and names them', async () => {
    const ended = image.podman('run', '--rm', ...asInProduction, ...flags({ DATABASE_URL: metadata.url }), image.name);
    await expect(ended).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('GUESTLIST_ENCRYPTION_KEY') });
  });

  test('becomes healthy, answers the first chart of each tenant with its own rows, and ends by the stop signal', async () => {
    await start('first');
    await untilReady('first');
    await image.podman('healthcheck', 'run', 'first');
    const { GUESTLIST_SERVICE_TOKEN } = secrets;
    const { stdout } = await promisify(execFile)('bash', ['docs/tutorials/own-data.sh'], {
      cwd: root,
      env: { ...process.env, GUESTLIST_URL: url(), GUESTLIST_DATA_DIR: data, GUESTLIST_SERVICE_TOKEN },
    });
    const answers = [...stdout.matchAll(/rows of (\w+), and of nobody else\n(.*)/g)].map(([, tenant, answer = '']) => ({
      tenant,
      rows: JSON.parse(answer).data,
    }));
    expect(answers.map(({ tenant, rows }) => [tenant, rows.length])).toEqual([
      ['ATL', 5],
      ['LAX', 5],
    ]);
    expect(answers[0]?.rows).not.toEqual(answers[1]?.rows);
    expect((await fetch(`${url()}/elements.js`)).status).toBe(200);
    await image.podman('stop', '--time=30', 'first');
    expect((await image.podman('inspect', '--format={{.State.ExitCode}}', 'first')).trim()).toBe('0');
    await expect(image.podman('healthcheck', 'run', 'first')).rejects.toThrow();
  });

  test('another container finds what the first stored, and its health check fails while it is stopped', async () => {
    await start('second');
    await untilReady('second');
    const authorization = `Bearer ${secrets.GUESTLIST_SERVICE_TOKEN}`;
    const listed = await fetch(`${url()}/api/v2/workspace`, { headers: { authorization } });
    expect(await listed.text()).toContain('planes');
    await image.podman('kill', '--signal=SIGKILL', 'second');
    await expect(image.podman('healthcheck', 'run', 'second')).rejects.toThrow();
  });
});
