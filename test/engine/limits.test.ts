import { expect, test } from 'vitest';
import { engineLimits, usualLimits } from '../../src/engine/connections/limits.js';
import { settingsSchema } from '../../src/platform/config/settings.js';

test('the limits of an engine are the settings, in milliseconds and bytes', () => {
  const { queries, datasources } = settingsSchema.parse({
    queries: { timeoutSeconds: 2, downloadSeconds: 3, waitSeconds: 4, answerRows: 5, answerMegabytes: 6, waiting: 7 },
    datasources: { maxConnections: 8, maxConnectionsPerDatasource: 9, maxConnectionsPerClient: 1 },
  });
  expect(engineLimits({ queries, datasources })).toMatchObject({
    ...{ timeoutMs: 2000, streamMs: 3000, waitMs: 4000 },
    ...{ maxConnections: 8, maxConnectionsPerDatasource: 9, maxConnectionsPerClient: 1 },
    limits: { answerRows: 5, answerBytes: 6 * 1024 * 1024 },
    queue: { waiting: 7, waitMs: 4000, running: null },
  });
});

test('an engine without settings has the defaults of the schema', () => {
  expect(usualLimits).toEqual(engineLimits(settingsSchema.parse({})));
});
