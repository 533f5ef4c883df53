// `npm run evaluate:chat -- --url https://models.example/v1 --model NAME [--rows] [--report FILE]`: asks a real model the
// hundred questions of questions.ts over the demo's data, and counts the answers whose rows are the expected ones. The key
// is in the environment variable EVALUATE_KEY. `--rows` lets the model see rows of the demo.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    model: { type: 'string' },
    rows: { type: 'boolean', default: false },
    report: { type: 'string' },
  },
});
if (values.url === undefined || values.model === undefined) {
  console.error('evaluate:chat needs --url (of an interface like that of OpenAI) and --model; its key: EVALUATE_KEY');
  process.exit(2);
}
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/evaluation/chat.long.test.ts'], {
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  stdio: 'inherit',
  env: {
    ...process.env,
    TEST_LONG: '1',
    EVALUATE_URL: values.url,
    EVALUATE_MODEL: values.model,
    EVALUATE_ROWS: values.rows ? '1' : '0',
    ...(values.report === undefined ? {} : { EVALUATE_REPORT: values.report }),
  },
});
process.exit(status ?? 1);
