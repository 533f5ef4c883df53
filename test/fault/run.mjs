// `npm run faults`: real servers restart, freeze, fill up, fail over and are killed under load, one after the other.
// Then the product itself is killed at random moments, with each metadata database. Prints a table: what users saw, for
// how long, and what was lost. Exits with 1 if a user saw anything but a correct answer or 503 with Retry-After, or if
// something was lost.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const usage = `npm run faults -- [--kills N] [--soak N] [--seed N] [--only TEXT]
  --kills N     how often the process is killed on each backing (100)
  --soak N      minutes of the soak with three replicas and faults at random (1)
  --seed N      of the moments and of what is asked (another one each time)
  --only TEXT   faults whose name has the text alone, such as Redis, killed, disk`;

const options = {
  kills: { type: 'string', default: '100' },
  soak: { type: 'string', default: '1' },
  seed: { type: 'string' },
  only: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
};

const readOptions = () => {
  try {
    const { values } = parseArgs({ options });
    for (const name of ['kills', 'soak', 'seed']) {
      if (values[name] !== undefined && !/^[1-9]\d*$/.test(values[name]))
        throw new Error(`--${name} takes a number from 1`);
    }
    return values;
  } catch (error) {
    console.error(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
};

const linesOf = (file) =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];

const titles = {
  fault: 'fault',
  answers: 'what users saw (status: times)',
  longestMs: 'longest answer, ms',
  goodAgainMs: 'good again, p50 ms',
  goodAgainMaxMs: 'max ms',
  acknowledged: 'acknowledged',
  lost: 'lost',
};

/** Prints the table as Markdown. */
const print = (lines) => {
  const rows = lines.map((line) => Object.keys(titles).map((name) => line[name]));
  const all = [Object.values(titles), Object.keys(titles).map(() => '---'), ...rows];
  console.log(['', ...all.map((cells) => `| ${cells.join(' | ')} |`), ''].join('\n'));
};

const { kills, soak, seed, only, help } = readOptions();
if (help) {
  console.log(usage);
  process.exit(0);
}
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'guestlist-faults-'));
const file = join(folder, 'table.jsonl');
try {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const which = only === undefined ? [] : ['-t', only];
  // One file after the other, since load of one test would disturb the measurement of another.
  const args = [vitest, 'run', 'test/fault/table', '--no-file-parallelism', ...which];
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      TEST_LONG: '1',
      FAULTS_TABLE: file,
      FAULTS_KILLS: kills,
      FAULTS_SOAK: soak,
      ...(seed === undefined ? {} : { FAULTS_SEED: seed }),
    },
  });
  const lines = linesOf(file);
  print(lines);
  if (lines.length === 0)
    console.error(`No fault was provoked${only === undefined ? '' : `: no test has "${only}" in its name`}.`);
  process.exitCode = lines.length === 0 ? 1 : (status ?? 1);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
