// Starts Guestlist's demo, then Next with its address and secret.
import { spawn } from 'node:child_process';
import { startGuestlist } from '../guestlist.mjs';

const { url, secret } = await startGuestlist();
const args = ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1', '-p', process.env.HOST_PORT ?? '8080'];
const env = { ...process.env, GUESTLIST_URL: url, GUESTLIST_HOST_JWT_SECRET: secret };
const next = spawn(process.execPath, args, { env, stdio: 'inherit' });
process.once('SIGTERM', () => next.kill('SIGTERM'));
process.once('exit', () => next.kill('SIGTERM'));
