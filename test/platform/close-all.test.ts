import { describe, expect, it } from 'vitest';
import { closeAll, createClosers } from '../../src/platform/work/close-all.js';
import { repeat } from '../../src/platform/work/time.js';

const failing = (message: string) => () => {
  throw new Error(message);
};

describe('closeAll', () => {
  it('runs every step in order, also after steps that throw or reject, and rejects with all failures', async () => {
    const ran: string[] = [];
    const step = (name: string) => async () => void ran.push(name);
    const closing = closeAll([
      step('first'),
      failing('thrown'),
      step('second'),
      () => Promise.reject(new Error('rejected')),
      step('third'),
    ]);
    const error: unknown = await closing.catch((thrown: unknown) => thrown);
    if (!(error instanceof AggregateError)) throw error;
    expect(error.message).toBe('failed to close everything: thrown; rejected');
    expect(error.errors.map(({ message }) => message)).toEqual(['thrown', 'rejected']);
    expect(ran).toEqual(['first', 'second', 'third']);
  });

  it('waits for each step before the next one', async () => {
    const ran: string[] = [];
    const slow = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      ran.push('slow');
    };
    await closeAll([slow, () => void ran.push('fast')]);
    expect(ran).toEqual(['slow', 'fast']);
  });
});

it('closers close what was added, last added first, and once', async () => {
  const ran: string[] = [];
  const closers = createClosers();
  for (const name of ['database', 'watcher']) closers.add(() => void ran.push(name));
  await closers.close();
  await closers.close();
  expect(ran).toEqual(['watcher', 'database']);
});

it('the stop of a repeated call waits for the running call, and no call follows', async () => {
  const due: (() => void)[] = [];
  const after = (_: number, run: () => void) => {
    due.push(run);
    return () => {};
  };
  let calls = 0;
  let end = (): void => {};
  const stop = repeat({ nowMs: () => 0, after }, 1000, () => {
    calls += 1;
    return new Promise((resolve) => {
      end = resolve;
    });
  });
  due.shift()?.();
  let isStopped = false;
  const stopping = stop().then(() => {
    isStopped = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect([calls, isStopped]).toEqual([1, false]);
  end();
  await stopping;
  expect([calls, due.length]).toEqual([1, 0]);
});
