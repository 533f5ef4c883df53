import { expect, test } from 'vitest';
import type { Engine } from '../../src/domain/ports.js';
import { downloadGuestCsv } from '../../src/usecases/guest-reads.js';
import { refusalOf } from '../engine/world.js';
import { createWorld } from './world.js';

test('a download is whole or refused; one that was asked for by pages is a page', async () => {
  const world = await createWorld();
  await world.template('csv');
  await world.embed('csv');
  const guest = await world.mint({}, { permissions: { isEnableDownloadMetrics: true } });
  // More rows than an answer holds, as the engine would say it.
  const query: Engine['query'] = async (question) => ({
    ...(await world.deps.engine.query(question)),
    totalRecords: 12_000,
  });
  const download = downloadGuestCsv({ ...world.deps, engine: { ...world.deps.engine, query } });
  const asked = { metricId: 'csv-count', dashboardId: 'csv' };
  expect(await refusalOf(() => download(guest, asked))).toMatchObject({ reason: 'download-too-large' });
  expect((await download(guest, { ...asked, limit: 1 })).answer.rows).toHaveLength(1);
  expect((await downloadGuestCsv(world.deps)(guest, asked)).answer.rows).toEqual([{ Sales: 5 }]);
  await world.close();
});
