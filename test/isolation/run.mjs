// `npm run isolation -- [--cases N] [--seed N] [--kinds DUCKDB,POSTGRES,MYSQL] [--only tenants|hidden|guests|views|view-as|sources|blind|columns|bridges|currencies|resellers|rollups]`:
// runs the random oracles with many cases, from a random seed unless one is given. `tenants`: rows of other tenants;
// `hidden`: rows that a token hides; `guests`: all that a guest receives, with marks, files, drawings, alerts and tools;
// `views`: saved views; `view-as`: Studio's views as a user against the user's own token; `blind`: what people of Studio
// without access to data are answered, over two installations that differ in rows; `columns`: columns that a token masks
// or hides, against a database that holds the masked values; `bridges`: tables read through a bridge, and base filters,
// against a database without the rows that they leave out; `currencies`: in which currency amounts are; `sources`: tenants that a policy spreads over databases of
// three kinds; `resellers`: sessions and pages of several tenants; `rollups`:
// sums that are kept beside the source, against the source itself.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    cases: { type: 'string', default: '100000' },
    kinds: { type: 'string' },
    only: { type: 'string' },
  },
});
const files = {
  tenants: 'test/isolation/isolation.test.ts',
  hidden: 'test/isolation/hidden.test.ts',
  guests: 'test/isolation/guests.test.ts',
  views: 'test/isolation/views.test.ts',
  'view-as': 'test/isolation/view-as.test.ts',
  sources: 'test/isolation/sources.test.ts',
  blind: 'test/isolation/blind.test.ts',
  columns: 'test/isolation/columns.test.ts',
  bridges: 'test/isolation/bridges.test.ts',
  currencies: 'test/isolation/currencies.test.ts',
  resellers: 'test/isolation/resellers.test.ts',
  rollups: 'test/isolation/rollups.test.ts',
};
if (values.only !== undefined && !(values.only in files)) {
  console.error(`--only takes one of: ${Object.keys(files).join(', ')}`);
  process.exit(2);
}
const asked = values.only === undefined ? Object.values(files) : [files[values.only]];
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 30));
console.log(`isolation: ${values.cases} cases on ${values.kinds ?? 'every database that is here'}, seed ${seed}`);
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, 'run', ...asked], {
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  stdio: 'inherit',
  env: {
    ...process.env,
    ISOLATION_SEED: seed,
    ISOLATION_CASES: values.cases,
    ...(values.kinds === undefined ? {} : { ISOLATION_KINDS: values.kinds }),
  },
});
process.exitCode = status ?? 1;
