/** Redocly's linter accepts the OpenAPI document, with the rules of `redocly.yaml`. Warnings count as faults. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOpenApi } from '../../../src/platform/http/interface/openapi.js';
import { operations } from '../../../src/service/operations.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const linter = join(root, 'node_modules/@redocly/cli/bin/cli.js');

type Problem = { readonly ruleId: string; readonly message: string };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-lint-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The linter sends no telemetry and does not look for updates. */
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

const lint = async (document: unknown): Promise<readonly string[]> => {
  const file = join(folder, 'openapi.json');
  await writeFile(file, JSON.stringify(document));
  const args = [linter, 'lint', '--config', join(root, 'redocly.yaml'), '--format', 'json', file];
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, args, { env, maxBuffer: 2 ** 26 }, (_, stdout) => resolve(stdout)),
  );
  const { problems }: { problems: readonly Problem[] } = JSON.parse(output);
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
};

test('the document has no fault and no warning', async () => {
  expect(await lint(createOpenApi(operations, { version: '1' }))).toEqual([]);
});

test('a fault is found: the check can fail', async () => {
  const document = JSON.parse(JSON.stringify(createOpenApi(operations, { version: '1' })));
  delete document.paths['/api/v2/data-app'].post.operationId;
  document.paths['/api/v2/data-app'].post.security = [{ nobody: [] }];
  const found = await lint(document);
  expect(found.join('\n')).toMatch(/operation-operationId: .*\n?/);
  expect(found.join('\n')).toMatch(/security-defined: /);
});
