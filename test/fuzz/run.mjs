// `npm run fuzz -- [--requests N] [--seed N]`: runs the fuzz test with many requests, from a random seed unless one is
// given.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { seed: { type: 'string' }, requests: { type: 'string', default: '20000' } } });
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31));
console.log(`fuzz: ${values.requests} requests, seed ${seed}`);
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/fuzz/fuzz.long.test.ts'], {
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  stdio: 'inherit',
  env: { ...process.env, TEST_LONG: '1', FUZZ_SEED: seed, FUZZ_REQUESTS: values.requests },
});
process.exitCode = status ?? 1;
