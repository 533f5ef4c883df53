/** What was opened so far, so that a start that fails closes all of it. */
type Closable = { readonly close: () => Promise<void> };

export type Opened = {
  /** Notes what `work` opens. */
  readonly add: <T extends Closable>(work: Promise<T>) => Promise<T>;
  /** Waits for what is still being opened, then closes all, the last one first. Rejects with the first failure, after the rest. */
  readonly closeAll: () => Promise<void>;
};

export const createOpened = (): Opened => {
  const closers: (() => Promise<void>)[] = [];
  const opening: Promise<unknown>[] = [];
  return {
    add: (work) => {
      const noted = work.then((opened) => {
        closers.push(opened.close);
        return opened;
      });
      opening.push(noted);
      return noted;
    },
    closeAll: async () => {
      await Promise.allSettled(opening);
      const failures: unknown[] = [];
      for (const close of closers.toReversed()) await close().catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    },
  };
};
