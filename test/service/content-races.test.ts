/**
 * A dashboard's content is replaced while others change it. Needs a real server, since the embedded database runs one
 * transaction at a time.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getDashboardContent, replaceDashboardContent } from '../../src/service/dashboards/content.js';
import { stays } from '../engine/world.js';
import { isPostgresThere } from '../suites/postgres.js';
import { createWorld, type World } from './world.js';

const rounds = 12;

describe.skipIf(!(await isPostgresThere()))('at the same time', () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld('postgres');
    await world.template('board');
  });
  afterAll(() => world.close());

  const target = { dashboardId: 'copy', workspaceName: 'space' };
  const owner = { dataAppId: 'id-app', clientId: 'a' };
  const read = () => getDashboardContent(world.deps)(world.api(), target);
  const replace = async (gridMargin: readonly number[]): Promise<string> => {
    const { content, digest } = await read();
    const command = { ...target, content: { ...content, gridMargin }, expectedDigest: digest };
    return replaceDashboardContent(world.deps)(world.api(), command, stays).then(
      () => 'done',
      (error: { readonly code?: string }) => error.code ?? String(error),
    );
  };

  test("a guest's edit is never overwritten: the replacement goes by it, or is refused", async () => {
    const metricId = await world.clone('board', 'copy');
    const outcomes = new Set<string>();
    for (let round = 0; round < rounds; round += 1) {
      const name = `edit ${round}`;
      const [outcome] = await Promise.all([replace([round]), world.store.metrics.change(metricId, owner, { name })]);
      outcomes.add(outcome);
      const { content } = await read();
      expect(content.metrics[0]?.name).toBe(name);
      if (outcome === 'done') expect(content.gridMargin).toEqual([round]);
    }
    expect([...outcomes].filter((outcome) => !['done', 'DASHBOARD_CHANGED'].includes(outcome))).toEqual([]);
  });

  test('exactly one of replacements that go by the same content at the same time is done', async () => {
    const { content, digest } = await read();
    const settled = await Promise.allSettled(
      [101, 102, 103, 104].map((margin) =>
        replaceDashboardContent(world.deps)(
          world.api(),
          {
            ...target,
            content: { ...content, gridMargin: [margin] },
            expectedDigest: digest,
          },
          stays,
        ),
      ),
    );
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of settled)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'DASHBOARD_CHANGED' });
  });
});
