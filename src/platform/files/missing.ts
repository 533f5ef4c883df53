/** Whether a file that was to be read, changed or removed is not there. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** What the work gives; undefined where its file is not there. */
export const orMissing = async <R>(work: Promise<R>): Promise<R | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};
