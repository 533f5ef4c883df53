/** The image's files are sufficient to run the product by its entry point, health check and stop signal. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { constants } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { argumentsOf, layOutImage, linkPackages, runImage, untilAnswered } from './image.js';

const secret = (): string => randomBytes(36).toString('base64');
/** Settings that production needs with one data folder, in addition to what Guestlist creates itself. */
const secrets = { GUESTLIST_HOST_JWT_SECRET: secret(), GUESTLIST_API_KEY: secret() };

describe('image', () => {
  let laidOut: Awaited<ReturnType<typeof layOutImage>>;
  beforeAll(async () => {
    laidOut = await layOutImage({ install: linkPackages });
  });
  afterAll(() => laidOut.remove());

  test('refuses to start without secrets, and names them', async () => {
    const container = await runImage(laidOut.app, { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(await container.ended).toBe(2);
    expect(container.output()).toContain('GUESTLIST_ENCRYPTION_KEY');
    expect(container.output()).toContain('GUESTLIST_HOST_JWT_SECRET');
  });

  test('the stop signal ends a container that is still starting', async () => {
    // A database that accepts connections and never answers keeps the start waiting.
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const key = randomBytes(32).toString('base64');
    const database = `postgres://nobody@127.0.0.1:${port}/none`;
    const env = { ...secrets, DATABASE_URL: database, GUESTLIST_ENCRYPTION_KEY: key };
    const container = await runImage(laidOut.app, env);
    await untilAnswered(container, '/healthz');
    // The exit must come from a handler: the kernel's default does not apply to the first process of a container.
    expect(await container.stop()).toBe(128 + constants.signals.SIGTERM);
    silent.close();
  });

  test('serves, answers its health check, and ends by the stop signal', async () => {
    const container = await runImage(laidOut.app, secrets);
    try {
      await untilAnswered(container, '/elements.js');
      expect(await container.exec(argumentsOf('HEALTHCHECK'))).toBe(0);
      expect(await container.exec([...argumentsOf('HEALTHCHECK').slice(0, 2), '/nothing'])).toBe(1);
      expect((await fetch(`${container.url}/demo`)).status).toBe(404);
    } finally {
      expect(await container.stop(), container.output()).toBe(0);
    }
    expect(await container.exec(argumentsOf('HEALTHCHECK'))).toBe(1);
  });
});
