// `npm run mutation -- [--only TEXT] [--file NAME] [--since COMMIT] [--jobs N]`: applies one mutant at a time in a copy of
// the project and runs the tests that must fail. Prints a table. Exits with 1 unless every mutant is killed. `--only` may
// be given more than once. `--file`: only the mutants of NAME.yaml. `--since`: only mutants of files that changed after
// this commit.
import { execFileSync, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { applied, readMutants, root } from './mutants.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    file: { type: 'string' },
    since: { type: 'string' },
    jobs: { type: 'string', default: '2' },
  },
});
const changed =
  values.since === undefined
    ? null
    : new Set(execFileSync('git', ['diff', '--name-only', values.since], { cwd: root, encoding: 'utf8' }).split('\n'));
const isWanted = ({ name, edits }) =>
  values.only.some((text) => name.includes(text)) && (changed === null || edits.some(({ file }) => changed.has(file)));
const mutants = readMutants(values.file).filter(isWanted);
const faults = mutants.flatMap((mutant) => applied(mutant).fault ?? []);
if (faults.length > 0 || mutants.length === 0) {
  console.error(faults.length > 0 ? faults.join('\n\n') : 'no such mutant');
  process.exit(2);
}

const parts = [
  'src',
  'test',
  'config',
  'bin',
  'docs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'web-bundle.mjs',
  'vitest.config.ts',
  'build.mjs',
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
];

/** Creates a copy of the project that uses this one's packages. */
const createCopy = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-mutation-'));
  for (const part of parts) await cp(join(root, part), join(folder, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  // Each run of tests builds the changed modules of the server; the pages that it serves are built once.
  execFileSync(process.execPath, ['build.mjs', '--quiet'], { cwd: folder, stdio: 'pipe' });
  return folder;
};

const isLong = (file) => file.endsWith('.long.test.ts');

/** Runs the test files in a copy. `failed`: the first test that failed, null if all passed. `broken`: no test ran. */
const runTests = async (folder, files, kinds, bail = '1') => {
  // A run is of the long files or of the others.
  const runs = [];
  for (const some of [files.filter((file) => !isLong(file)), files.filter(isLong)]) {
    if (some.length > 0) runs.push(await runSome(folder, some, kinds, bail));
  }
  return {
    spoilt: runs.flatMap(({ spoilt }) => spoilt),
    seconds: runs.reduce((sum, { seconds }) => sum + seconds, 0),
    failed: runs.find(({ failed }) => failed !== null)?.failed ?? null,
    broken: runs.find(({ broken }) => broken !== null)?.broken ?? null,
  };
};

const runSome = async (folder, files, kinds, bail) => {
  const report = join(folder, 'report.json');
  await rm(report, { force: true });
  const started = performance.now();
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', ...files, '--bail', bail, '--reporter', 'json', '--outputFile', report];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: 'ignore',
    env: {
      ...process.env,
      ...(files.some(isLong) ? { TEST_LONG: '1' } : {}),
      ...(kinds === null ? {} : { ISOLATION_KINDS: kinds, ISOLATION_SHRINK: '0' }),
    },
  });
  const status = await new Promise((resolve) => child.on('exit', resolve));
  const seconds = (performance.now() - started) / 1000;
  const text = await readFile(report, 'utf8').catch(() => null);
  const results = text === null ? [] : JSON.parse(text).testResults;
  const tests = results.flatMap((file) => file.assertionResults.map((test) => ({ ...test, file: file.name })));
  const failed = tests.find((test) => test.status === 'failed');
  const isBroken = status !== 0 && failed === undefined;
  const spoilt = results
    .filter(({ status: of }) => of === 'failed')
    .map(({ name }) => `test/${name.split('/test/').at(-1)}`);
  return {
    spoilt,
    seconds,
    failed: failed === undefined ? null : `${failed.file.split('/test/').at(-1)}: ${failed.title}`,
    broken: isBroken ? (results.find(({ message }) => message !== '')?.message ?? 'no report') : null,
  };
};

const judge = async (folder, mutant) => {
  // Reads the copy, so that changes to the project meanwhile have no effect.
  const { texts } = applied(mutant, folder);
  const own = new Map(
    await Promise.all([...texts.keys()].map(async (file) => [file, await readFile(join(folder, file), 'utf8')])),
  );
  for (const [file, text] of texts) await writeFile(join(folder, file), text);
  const { tests, kinds = 'DUCKDB' } = mutant;
  const result = await runTests(folder, tests, kinds);
  for (const [file, text] of own) await writeFile(join(folder, file), text);
  return { mutant, ...result };
};

const outcome = ({ failed, broken }) => (broken !== null ? 'BROKEN' : failed === null ? 'SURVIVED' : 'killed');

const jobs = Math.min(Number(values.jobs), 2);
const folders = await Promise.all(Array.from({ length: jobs }, createCopy));
try {
  const files = [...new Set(mutants.flatMap(({ tests }) => tests))];
  console.error(`${mutants.length} mutants; first, ${files.length} files of tests without any`);
  const whole = await runTests(folders[0], files, null, '0');
  // A file that also fails without mutants proves nothing, so it is not used.
  const spoilt = new Set(whole.spoilt);
  if (whole.broken !== null && spoilt.size === 0) throw new Error(whole.broken);
  if (spoilt.size > 0) console.error(`these fail without a mutant, and judge none: ${[...spoilt].join(', ')}`);
  const open = [...mutants];
  const judged = [];
  const work = async (folder) => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      const bad = next.tests.filter((file) => spoilt.has(file));
      const result =
        bad.length > 0
          ? { mutant: next, seconds: 0, failed: null, broken: `${bad.join(', ')} fails without it` }
          : await judge(folder, next);
      judged.push(result);
      console.error(
        `${judged.length}/${mutants.length} ${outcome(result)}: ${next.name}${result.broken === null ? '' : `\n${result.broken}`}`,
      );
    }
  };
  await Promise.all(folders.map(work));
  judged.sort((a, b) => a.mutant.leak - b.mutant.leak || (a.mutant.name < b.mutant.name ? -1 : 1));
  const lines = judged.map(
    (result) =>
      `| ${result.mutant.leak} | ${result.mutant.name} | ${outcome(result)} | ${result.failed ?? ''} | ${result.seconds.toFixed(1)} |`,
  );
  console.log(['| leak | mutant | | by | seconds |', '|---|---|---|---|---|', ...lines].join('\n'));
  const killed = judged.filter((result) => outcome(result) === 'killed').length;
  console.log(`\nmutation score: ${killed} of ${judged.length} (${((killed / judged.length) * 100).toFixed(1)} %)`);
  process.exitCode = killed === judged.length ? 0 : 1;
} finally {
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
}
