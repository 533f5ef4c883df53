// `npm run faults`: real servers that restart, freeze, end sessions and fill up under load, one after the other. Prints a table: what
// users saw, for how long, and what was lost. Exits with 1 where a user saw anything but an answer or 503 with Retry-After, or
// where something was lost.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'guestlist-faults-'));
const file = join(folder, 'table.json');
try {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/fault/table.test.ts'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_LONG: '1', FAULTS_TABLE: file },
  });
  console.table(JSON.parse(readFileSync(file, 'utf8')));
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
