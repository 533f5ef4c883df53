/** What single flight must do across replicas. Runs on each implementation. */
import { describe, expect, it } from 'vitest';
import type { SharedWork, Sharing } from '../../src/platform/redis/sharing.js';

export type SharingUnderTest = {
  /** Two replicas of one product. */
  readonly replicas: () => readonly [Sharing, Sharing];
  /** Returns a key that only this run uses. */
  readonly key: (name: string) => string;
};

/** Work whose outcome the test decides. Counts how often it was started. */
export const createWork = (name: string) => {
  const discarded: string[] = [];
  const state = { begun: 0, lifeMs: 60_000, until: Promise.resolve() as Promise<void>, failure: null as Error | null };
  const work: SharedWork = {
    isGood: (text) => text.startsWith('good'),
    make: async () => {
      state.begun += 1;
      await state.until;
      if (state.failure !== null) throw state.failure;
      return { text: `good ${name} ${state.begun}`, lifeMs: state.lifeMs };
    },
    discard: async (text) => void discarded.push(text),
    encodeFailure: (error) => (error instanceof Error ? error.message : null),
    decodeFailure: (text) => new Error(text),
  };
  return { work, state, discarded };
};

export const createLatch = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
};

/** Registers the suite. */
export const describeSharing = (name: string, { replicas, key }: SharingUnderTest): void => {
  describe(`sharing: ${name}`, () => {
    it('has work done once over all replicas, and gives all of them what it made', async () => {
      const { work, state } = createWork('once');
      const latch = createLatch();
      state.until = latch.opened;
      const [first, second] = replicas();
      const asked = Array.from({ length: 40 }, (_, index) => (index % 2 ? first : second).once(key('once'), work));
      await expect.poll(() => state.begun).toBe(1);
      latch.open();
      expect(await Promise.all(asked)).toEqual(asked.map(() => ({ text: 'good once 1', isShared: true })));
      expect((await second.once(key('once'), work)).text).toBe('good once 1');
      expect(state.begun).toBe(1);
    });

    it('replicas that share work keep its keys apart', async () => {
      const made = await Promise.all(
        ['a', 'b', 'A'].map((each) => replicas()[0].once(key(`apart ${each}`), createWork(each).work)),
      );
      expect(made.map(({ text }) => text)).toEqual(['good a 1', 'good b 1', 'good A 1']);
    });

    it('does not use a stored result that is not acceptable', async () => {
      const [first, second] = replicas();
      const spoilt = { ...createWork('spoilt').work, make: async () => ({ text: 'bad', lifeMs: 60_000 }) };
      await first.once(key('spoilt'), spoilt);
      expect((await second.once(key('spoilt'), createWork('mended').work)).text).toBe('good mended 1');
      expect((await first.once(key('spoilt'), createWork('again').work)).text).toBe('good mended 1');
    });

    it('does not store a result that must not be answered any more', async () => {
      const { work, state } = createWork('short');
      state.lifeMs = 0;
      const [first, second] = replicas();
      expect((await first.once(key('short'), work)).text).toBe('good short 1');
      expect((await second.once(key('short'), work)).text).toBe('good short 2');
    });

    it('tells a failure to those who wait for it, and tries again for who comes later', async () => {
      const { work, state } = createWork('failing');
      const latch = createLatch();
      Object.assign(state, { until: latch.opened, failure: new Error('refused upstream') });
      const [first, second] = replicas();
      const outcomes = [first, first, second, second].map((each) => each.once(key('failing'), work));
      const ended = Promise.allSettled(outcomes);
      await expect.poll(() => state.begun).toBe(1);
      latch.open();
      for (const outcome of await ended) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'refused upstream' } });
      }
      // The work runs once for all, and once more if a replica was not notified of the failure.
      expect(state.begun).toBeLessThanOrEqual(2);
      state.failure = null;
      expect((await second.once(key('failing'), work)).text).toMatch(/^good failing/);
    });

    it('agrees on the first of several that are offered', async () => {
      const [first, second] = replicas();
      const isGood = (text: string) => text.startsWith('good');
      const offered = ['good 1', 'good 2', 'good 3'].map((text, index) =>
        (index % 2 ? first : second).offer(key('offered'), { text, lifeMs: 60_000 }, isGood),
      );
      const kept = new Set(await Promise.all(offered));
      expect(kept.size).toBe(1);
      const found = await first.once(key('offered'), createWork('late').work);
      expect(found.text).toBe([...kept][0]);
      await first.once(key('bad'), { ...createWork('').work, make: async () => ({ text: 'bad', lifeMs: 60_000 }) });
      expect(await second.offer(key('bad'), { text: 'good', lifeMs: 60_000 }, isGood)).toBe('good');
    });

    it('carries news to every replica, until it is not wanted any more', async () => {
      const [first, second] = replicas();
      const heard: string[] = [];
      const ends = [first, second].map((each, index) => each.subscribe(key('news'), () => heard.push(`${index}`)));
      // A replica that has just connected may miss a message.
      await expect
        .poll(async () => {
          await first.publish(key('news'));
          return new Set(heard).size;
        })
        .toBe(2);
      for (const end of ends) end();
      const before = heard.length;
      await first.publish(key('news'));
      await first.publish(key('other news'));
      expect(heard.length).toBe(before);
    });
  });
};
