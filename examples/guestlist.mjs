// What the examples share: Guestlist's demo beside the host application, and a token for the user who is logged in.
import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** From the root of the repository, or from an installed package. */
const commandLine = () => {
  const own = fileURLToPath(new URL('../bin/guestlist.mjs', import.meta.url));
  if (existsSync(own)) return own;
  return join(createRequire(join(process.cwd(), 'x')).resolve('guestlist/package.json'), '../bin/guestlist.mjs');
};

/** Starts Guestlist with its demo, and ends it with this process. Resolves with its address, its keys and its secret. */
export const startGuestlist = async () => {
  const secret = randomBytes(48).toString('base64url');
  const apiKey = randomBytes(24).toString('base64url');
  const child = spawn(process.execPath, [commandLine(), 'serve'], {
    env: {
      PORT: '0',
      GUESTLIST_DATA_DIR: './data',
      ...process.env,
      // The host's own database: the demo keeps its data in its folder.
      DATABASE_URL: '',
      GUESTLIST_HOST_JWT_SECRET: secret,
      GUESTLIST_DEMO_API_KEY: apiKey,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => child.kill('SIGTERM'));
  process.once('exit', () => child.kill('SIGTERM'));
  child.once('exit', (code) => process.exit(code ?? 0));
  const url = await new Promise((resolve) => {
    child.stdout.on('data', (text) => {
      const [, found] = /Guestlist is up at (\S+)/.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return { url, secret, apiKey };
};

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The session of a user, signed as the host's backend signs it (HS256). */
const signSession = (user, secret) => {
  const now = Math.floor(Date.now() / 1000);
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ ...user, iat: now, exp: now + 300 })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};

/** Asks Guestlist what this user may see. The backend asks, so that the session stays away from the page. */
export const embedToken = async (user, { url, secret }) => {
  const answer = await fetch(`${url}/embed-token`, {
    method: 'POST',
    headers: { authorization: `Bearer ${signSession(user, secret)}` },
  });
  return { status: answer.status, body: await answer.json() };
};
