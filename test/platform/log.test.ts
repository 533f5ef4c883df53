import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { bufferedOutput, createLog } from '../../src/platform/logs/log.js';
import { createMemoryLog } from './http/sample.js';

const written = (fields: object): string => {
  const { log, lines } = createMemoryLog();
  log.info(fields, 'event');
  return lines.join('');
};

test.each([
  { authorization: 'Bearer s3cret' },
  { token: 's3cret' },
  { req: { headers: { authorization: 's3cret', cookie: 's3cret' } } },
  { body: { params: { rlsSettings: 's3cret', appFilters: 's3cret' } } },
  { config: { apiKey: 's3cret', nested: { password: 's3cret' } } },
])('secrets are not written: %j', (fields) => {
  expect(written(fields)).not.toContain('s3cret');
  expect(written(fields)).toContain('[redacted]');
});

test('an error is written with its causes, without the members in which drivers keep values', () => {
  const driver = Object.assign(new Error('duplicate key'), {
    code: '23505',
    detail: 'Key (client)=(ATL)',
    parameters: ['ATL'],
  });
  const line = written({ err: new Error('insert failed', { cause: driver }) });
  expect(JSON.parse(line).err).toMatchObject({
    message: 'insert failed',
    cause: { message: 'duplicate key', code: '23505' },
  });
  expect(line).not.toContain('ATL');
});

test('a cause that leads to itself ends', () => {
  const error = new Error('round');
  error.cause = error;
  expect(JSON.parse(written({ err: error })).err.message).toBe('round');
});

test('the level of the log holds', () => {
  const { log, lines } = createMemoryLog();
  log.debug('not written');
  expect(lines).toEqual([]);
});

test('lines are gathered and written in blocks, in their order, and all of them at the end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guestlist-log-'));
  const file = join(folder, 'log');
  // The file stays open, since the log writes to it as long as the process runs.
  const fd = openSync(file, 'w');
  const read = (): readonly number[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).index);
  try {
    const output = bufferedOutput(fd);
    const log = createLog({ destination: output });
    log.info({ index: 0, what: 'é' }, 'event');
    expect(read()).toEqual([]);
    for (let index = 1; index < 1000; index += 1) log.info({ index }, 'event');
    await vi.waitFor(() => expect(read().length).toBeGreaterThan(100));
    output.flushSync();
    await vi.waitFor(() => expect(read()).toEqual(Array.from({ length: 1000 }, (_, index) => index)));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
