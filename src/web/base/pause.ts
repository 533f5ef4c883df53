/** Rejects if the signal aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((done, failed) => {
    if (signal.aborted) {
      failed(signal.reason);
      return;
    }
    const timer = setTimeout(done, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        failed(signal.reason);
      },
      { once: true },
    );
  });
