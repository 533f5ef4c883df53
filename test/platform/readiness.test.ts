import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createReadiness } from '../../src/platform/logs/readiness.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const never = (): Promise<never> => new Promise(() => undefined);

it('answers in less than two seconds, whatever a check does, and names those that failed or said nothing', async () => {
  const { failed } = createReadiness(
    [
      { name: 'good', run: async () => undefined },
      { name: 'silent', run: never },
      { name: 'wrong', run: () => Promise.reject(new Error('no')) },
    ],
    { warn: () => undefined },
  );
  const asked = failed();
  await vi.advanceTimersByTimeAsync(1_999);
  expect(await Promise.race([asked, 'nothing yet'])).toEqual(['silent', 'wrong']);
});

it('probes that come meanwhile share the checks: a silent dependency is asked once', async () => {
  const run = vi.fn(never);
  const { failed } = createReadiness([{ name: 'silent', run }], { warn: () => undefined });
  const asked = [failed(), failed(), failed()];
  await vi.advanceTimersByTimeAsync(1_999);
  expect([await Promise.all(asked), run.mock.calls.length]).toEqual([[['silent'], ['silent'], ['silent']], 1]);
});

it('says how long the last run of a check took, and nothing before it ran', async () => {
  const { failed, tookMs } = createReadiness([{ name: 'good', run: async () => undefined }], { warn: () => undefined });
  expect(tookMs('good')).toBeUndefined();
  await failed();
  expect([tookMs('good'), tookMs('unknown')]).toEqual([expect.any(Number), undefined]);
});
