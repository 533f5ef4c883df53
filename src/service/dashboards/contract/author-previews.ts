/** What Studio asks of a metric that an author writes. No operation: guests and holders of keys cannot ask it. */
import { z } from 'zod';
import { previewQuestion } from '../../guest/contract/metrics.js';
import { metricDefinition } from './export.js';

export const authoredMetric = z.strictObject({
  ...previewQuestion,
  view: z.string().min(1).max(20_000).describe('The view of a user, as `view-open` answered it.'),
  definition: metricDefinition,
});
