/** Combined signals come, whatever the garbage collector does. */
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { anyOf } from '../../src/model/signals.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const never = new AbortController().signal;

/** Nothing but the combined signal holds the timeout. */
const late = (): AbortSignal => anyOf(never, AbortSignal.timeout(100));

test.each([
  ['one', late],
  ['one in another', () => anyOf(new AbortController().signal, late())],
])('a timeout that only %s combined signal holds comes after a collection too', async (_, make) => {
  const signal = make();
  const aborted = once(signal, 'abort');
  collect();
  await aborted;
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('the first of several signals gives the reason', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const signal = anyOf(first.signal, second.signal);
  second.abort('two');
  first.abort('one');
  expect(signal.reason).toBe('two');
  expect(anyOf(AbortSignal.abort('early'), never).reason).toBe('early');
});
