import { test } from 'vitest';

/** Whether the long run is asked for (`TEST_LONG=1`): what takes minutes, and guards what seldom changes. See vitest.config.ts. */
export const isLong = process.env.TEST_LONG === '1';

/** A test of the long run alone. */
export const longTest = test.runIf(isLong);
