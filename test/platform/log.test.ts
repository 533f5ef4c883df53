import { expect, test } from 'vitest';
import { createMemoryLog } from '../http/sample.js';

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

test('the level holds', () => {
  const { log, lines } = createMemoryLog();
  log.debug('not written');
  expect(lines).toEqual([]);
});
