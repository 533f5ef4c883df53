/**
 * `npm run docs` generates docs/reference/errors.md from the table of errors. This test fails if the page is out of
 * date.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { gatewayErrors } from '../../src/gateway/common/wire.js';
import { type Code, type ErrorEntry, errors } from '../../src/model/errors.js';
import type { Operation } from '../../src/platform/http/interface/operation.js';
import { operations } from '../../src/service/operations.js';
import { withFoot } from '../generated-foot.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Statuses of HTTP itself, in addition to those that operations declare. */
const httpStatuses: Partial<Record<Code, number>> = {
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  SERVICE_UNAVAILABLE: 503,
};

const entries = Object.entries<ErrorEntry>(errors) as readonly (readonly [Code, ErrorEntry])[];

const statusesOf = (code: Code): readonly number[] => {
  const declared = Object.values<Operation>(operations).map((operation) => operation.errors[code]);
  const gateway: Partial<Record<Code, number>> = gatewayErrors;
  const all = [...declared, gateway[code], httpStatuses[code]].filter((status) => status !== undefined);
  return [...new Set(all)].toSorted((a, b) => a - b);
};

/** Wraps text at 100 characters. */
const wrap = (text: string): string => text.match(/\S.{0,98}\S(?=\s|$)/g)?.join('\n') ?? text;

const writePage = (): string =>
  [
    '# Error codes',
    wrap(
      'Every error has the body `{"error": {"code", "message", "status"}}`. Compare the code, never the message. One code may have different statuses, since the status belongs to the operation; `/docs/api` lists the codes of each operation. A guest token gets the same code with a neutral message where its user cannot mend the cause (all codes but `INVALID_REQUEST_BODY`, `UNAUTHORIZED` and those of the end user): the message gives the request id as a reference, and the log line of that request has the developer’s text under `refused.message`.',
    ),
    ...entries.map(([code, { meaning, mender, fix }]) =>
      [
        `## \`${code}\``,
        `Status: ${statusesOf(code).join(', ')}. Who can mend it: ${mender}.`,
        wrap(meaning),
        wrap(`**How:** ${fix}`),
      ].join('\n\n'),
    ),
  ].join('\n\n');

test('docs/reference/errors.md says what the table of errors says', async () => {
  await expect(withFoot(writePage(), '`src/model/errors.ts`')).toMatchFileSnapshot(
    join(root, 'docs/reference/errors.md'),
  );
});

test('every code can be answered, with at least one status', () => {
  expect(entries.filter(([code]) => statusesOf(code).length === 0).map(([code]) => code)).toEqual([]);
});

test('every code is named by the code that answers it', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((file) => file.endsWith('.ts') && file !== 'model/errors.ts')
    .map((file) => readFileSync(join(root, 'src', file), 'utf8'));
  expect(entries.filter(([code]) => !texts.some((text) => text.includes(`'${code}'`)))).toEqual([]);
});
