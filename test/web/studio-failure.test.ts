/** What an author reads in the editor if Studio's server refuses a save. */
import { expect, test } from 'vitest';
import { failureText } from '../../src/web/base/failure.js';
import { createFormat } from '../../src/web/base/format.js';
import { StudioError } from '../../src/web/studio/base/api.js';
import { toGuestError } from '../../src/web/studio/base/author-preview.js';

test('the editor says why a save was refused, and keeps a fault of its own apart', () => {
  const refusal = new StudioError('INVALID_DASHBOARD_DATA', 'metrics["a"]: the datamart has no column main.a.b.', 400);
  expect(failureText(toGuestError(refusal), createFormat('en-US').text)).toBe(
    'metrics["a"]: the datamart has no column main.a.b.',
  );
  expect(failureText(toGuestError(new TypeError('x is undefined')), createFormat('en-US').text)).toBe(
    'Something went wrong on this page.',
  );
});
