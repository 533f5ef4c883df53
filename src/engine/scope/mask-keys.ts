/** Keys of hashes: one for each tenant of a data app, so that no value can be found by hashing candidates. */
import { createHmac } from 'node:crypto';
import { clientOf } from '../../model/datamart/tenant.js';
import type { MetricQuestion } from '../../model/query/engine.js';

export type MaskKeyOf = (question: Pick<MetricQuestion, 'dataAppId' | 'tenant'>) => string;

/** `secret` must be the same for all replicas, and after each start: another one gives other hashes. */
export const createMaskKeys =
  (secret: Buffer): MaskKeyOf =>
  ({ dataAppId, tenant }) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([dataAppId, tenant.kind, clientOf(tenant)]))
      .digest('hex');
