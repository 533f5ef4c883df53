/** An answer may be long if its messages are not: only bytes without a whole message count. */
import { expect, it } from 'vitest';
import { guardReads, type MalformedAnswer } from '../../src/platform/addresses/answer-guard.js';

const start = (progressOf: () => number) => {
  const destroyed: MalformedAnswer[] = [];
  const read = guardReads({ destroy: (cause) => destroyed.push(cause), progressOf, maxBytes: 10 });
  return { destroyed, read };
};
const chunk = Buffer.alloc(4);

it('bytes without a whole message end the connection above the limit', () => {
  const { destroyed, read } = start(() => 0);
  for (let count = 0; count < 2; count += 1) read(chunk, () => undefined);
  expect(destroyed).toEqual([]);
  read(chunk, () => undefined);
  expect(destroyed).toEqual([expect.objectContaining({ code: 'MALFORMED_ANSWER' })]);
});

it.each([
  ['while a chunk is parsed', (note: () => void) => ({ inParse: note, after: () => undefined })],
  ['after a chunk was parsed', (note: () => void) => ({ inParse: () => undefined, after: note })],
])('an answer of any length is read if the driver reads its messages %s', (_, noting) => {
  let messages = 0;
  const { destroyed, read } = start(() => messages);
  const { inParse, after } = noting(() => {
    messages += 1;
  });
  for (let count = 0; count < 50; count += 1) {
    read(chunk, inParse);
    after();
  }
  expect(destroyed).toEqual([]);
});
