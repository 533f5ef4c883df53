/** Every kind of secret of an installation is rotated while its users log in and read. */
import { createHash, randomBytes } from 'node:crypto';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { placeFlights } from '../suites/flights.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { get, login, manager, openDashboard, post } from './guest.js';
import { makeFolder } from './installations.js';
import { type Product, runToEnd, startProduct } from './product.js';

const minutes = 60_000;

/** Users log in and read at whichever process serves, until the work has ended. Returns how many did. */
const underLoad = async (
  serving: () => Product,
  work: () => Promise<void>,
  claims: Readonly<Record<string, unknown>> = manager('SFO'),
): Promise<number> => {
  let isEnded = false;
  let count = 0;
  const reading = (async () => {
    while (!isEnded) {
      const product = serving();
      // Throws for anything but an answer.
      // Each time another user, since one may ask 300 times a minute.
      const { token, embeds } = await login(product, { ...claims, sub: `user-${count}` });
      await openDashboard(product, token, embeds[0]?.id ?? '');
      count += 1;
    }
  })();
  await Promise.all([
    work().finally(() => {
      isEnded = true;
    }),
    reading,
  ]);
  return count;
};

type Variables = Readonly<Record<string, string>>;

/** An installation on PostgreSQL whose processes start with the variables that hold then. */
const start = async (initial: Variables, args: readonly string[] = []) => {
  const { url: database, drop } = await createOwnDatabase();
  onTestFinished(drop);
  const files = await makeFolder();
  const first = await makeFolder();
  await placeFlights(join(first, 'demo/flights.duckdb'));
  let variables = initial;
  const env = (): Variables => ({ DATABASE_URL: database, ...variables });
  let product = await startProduct({ dataDir: first, env: env(), args });
  onTestFinished(async () => void (await product.stop()));

  /** The next process begins to serve before the last one ends, as a rolling update does. */
  const roll = async (changed: Variables = {}): Promise<void> => {
    variables = { ...variables, ...changed };
    const folder = await makeFolder();
    await cp(join(product.dataDir, 'credentials.json'), join(folder, 'credentials.json'));
    await placeFlights(join(folder, 'demo/flights.duckdb'));
    const before = product;
    product = await startProduct({ dataDir: folder, env: env(), args });
    expect(await before.stop()).toBe(0);
  };
  const operator = () => ({ ...env(), GUESTLIST_DATA_DIR: product.dataDir, PORT: new URL(product.url).port });
  const rotateWith = async (more: Variables, ...args: readonly string[]): Promise<string> => {
    const { code, output } = await runToEnd(['rotate', ...args], { ...operator(), ...more });
    expect([code, output]).toEqual([0, output]);
    return output;
  };
  const rotate = (...args: readonly string[]): Promise<string> => rotateWith({}, ...args);
  const file = (name: string): string => join(files, name);
  const valueIn = async (name: string): Promise<string> => (await readFile(file(name), 'utf8')).trim();
  return { database, current: () => product, roll, rotate, rotateWith, file, valueIn };
};

const encryptionKey = (): string => randomBytes(32).toString('base64');
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const isThere = await isPostgresThere();

test.skipIf(!isThere)(
  'the encryption key, the service token and the API key are rotated, and no request fails',
  { timeout: 15 * minutes },
  async () => {
    const { current, roll, rotate, rotateWith, file, valueIn } = await start({
      GUESTLIST_ENCRYPTION_KEY: encryptionKey(),
    });
    let ring = '';
    const served = await underLoad(current, async () => {
      for (const [name, ...args] of [['one', '--begin'], ['two'], ['three']] as const) {
        await rotate(...args, '--to', file(name));
        ring = await valueIn(name);
        await roll({ GUESTLIST_ENCRYPTION_KEY: ring });
      }
    });
    expect(served).toBeGreaterThan(0);
    expect(ring).not.toContain(',');

    const { serviceToken, demoApiKey } = current().credentials;
    const said = await rotateWith({ GUESTLIST_API_KEY: demoApiKey }, '--tokens', file('tokens'));
    expect(said).toContain('stay valid for 7 days');
    const written = await valueIn('tokens');
    const made = (variable: string): string => new RegExp(`^${variable}=(\\S+)$`, 'm').exec(written)?.[1] ?? '';
    const [nextToken, nextKey] = [made('GUESTLIST_SERVICE_TOKEN'), made('GUESTLIST_API_KEY')];
    expect(new Set([serviceToken, demoApiKey, nextToken, nextKey].map(hashOf)).size).toBe(4);
    const statusOf = async (path: string, bearer: string) =>
      (await get(`${current().url}/api/v2/${path}`, bearer)).status;
    for (const token of [serviceToken, nextToken]) expect(await statusOf('data-app', token)).toBe(200);
    const mintBy = async (key: string) =>
      (await post(`${current().url}/api/v2/guest-token/create`, { clientId: 'SFO', dataAppName: 'flights' }, key))
        .status;
    for (const key of [demoApiKey, nextKey]) expect(await mintBy(key)).toBe(200);
    expect(await rotate()).toMatch(/encryption key [0-9a-f]{8} .* 0 days/);
    await roll();
    expect(await statusOf('data-app', nextToken)).toBe(200);
  },
);

test.skipIf(!isThere)(
  'the secret of sessions and the gateway token are rotated, the host changes between, and no request fails',
  { timeout: 15 * minutes },
  async () => {
    const initial = randomBytes(48).toString('base64url');
    const token = randomBytes(48).toString('base64url');
    const { current, roll, rotate, file, valueIn } = await start({
      ...{ GUESTLIST_ENCRYPTION_KEY: encryptionKey(), GUESTLIST_HOST_JWT_SECRET: initial },
      GUESTLIST_GATEWAY_TOKEN: token,
    });
    // The host signs with this one.
    let signing = initial;
    const asHost = (): Product => ({
      ...current(),
      credentials: { ...current().credentials, demoJwtSecret: signing },
    });
    const commandStatus = async (bearer: string) =>
      (await post(`${current().url}/gateway/admin/list-rollouts`, {}, bearer)).status;
    const next = async (variable: string, name: string): Promise<string> => {
      await rotate('--secret', variable, '--to', file(name));
      return valueIn(name);
    };
    const served = await underLoad(
      asHost,
      async () => {
        const both = await next('GUESTLIST_HOST_JWT_SECRET', 'sessions');
        const tokens = await next('GUESTLIST_GATEWAY_TOKEN', 'gateway');
        await roll({ GUESTLIST_HOST_JWT_SECRET: both, GUESTLIST_GATEWAY_TOKEN: tokens });
        for (const bearer of tokens.split(' ')) expect(await commandStatus(bearer)).not.toBe(401);
        signing = both.split(' ')[1] ?? '';
        const alone = await next('GUESTLIST_HOST_JWT_SECRET', 'sessions-2');
        expect(alone).toBe(signing);
        const oneToken = await next('GUESTLIST_GATEWAY_TOKEN', 'gateway-2');
        await roll({ GUESTLIST_HOST_JWT_SECRET: alone, GUESTLIST_GATEWAY_TOKEN: oneToken });
      },
      { ...manager('SFO'), iss: 'the-host' },
    );
    expect(served).toBeGreaterThan(0);
    signing = initial;
    await expect(login(asHost(), { ...manager('SFO'), iss: 'the-host' })).rejects.toThrow('401');
    expect(await commandStatus(token)).toBe(401);
  },
);
