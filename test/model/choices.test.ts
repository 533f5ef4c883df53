/** Conflicts that an operator decides, field by field. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import { mergeDashboard, showConflicts } from '../../src/model/dashboard/merge/merge-dashboard.js';
import { board, contents, copyOf, definition, metric } from './boards.js';

type Three = readonly [DashboardContent, DashboardContent, DashboardContent];
const versionsOf = ([base, template, tenant]: Three) => ({ base, template, tenant: copyOf(tenant) });
const three = fc.tuple(contents, contents, contents);
const all = (conflicts: readonly { path: string }[], take: 'template' | 'tenant') =>
  Object.fromEntries(conflicts.map(({ path }) => [path, take]));
const numRuns = 300;

describe('choices', () => {
  it('choices for the tenant everywhere leave the content as it is, and no conflict', () => {
    fc.assert(
      fc.property(three, (given) => {
        const versions = versionsOf(given);
        const { conflicts, content } = mergeDashboard(versions);
        const decided = mergeDashboard(versions, all(conflicts, 'tenant'));
        expect(decided).toMatchObject({ conflicts: [], content });
      }),
      { numRuns },
    );
  });

  it('choices for the template give the copy the template’s value there, and what is left are new conflicts', () => {
    let taken = 0;
    fc.assert(
      fc.property(three, (given) => {
        const versions = versionsOf(given);
        const { conflicts } = mergeDashboard(versions);
        const decided = mergeDashboard(versions, all(conflicts, 'template'));
        const left = decided.conflicts.map(({ path }) => path);
        for (const { path } of conflicts) expect(left).not.toContain(path);
        const after = showConflicts({ ...versions, tenant: decided.content }, conflicts);
        for (const { path, template, tenant } of after) {
          // A card can still be moved below others, and a definition that would not be valid stays the tenant's.
          if (path.endsWith('.cards') || left.some((other) => path.startsWith(other))) continue;
          if (path.startsWith('metrics') && !path.includes('.')) expect(tenant === null).toBe(template === null);
          else expect(tenant).toEqual(template);
          taken += 1;
        }
      }),
      { numRuns },
    );
    expect(taken).toBeGreaterThan(100);
  });

  it('choices for what is no conflict change nothing', () => {
    fc.assert(
      fc.property(three, (given) => {
        const versions = versionsOf(given);
        const merged = mergeDashboard(versions);
        const paths = ['gridMargin', 'metrics["a"].name', 'filters["f"]', '__proto__', 'constructor'];
        const others = paths.filter((path) => !merged.conflicts.some((conflict) => conflict.path === path));
        expect(
          mergeDashboard(
            versions,
            all(
              others.map((path) => ({ path })),
              'template',
            ),
          ),
        ).toEqual(merged);
      }),
      { numRuns },
    );
  });

  it('show the three values of a conflict, and each is decided by itself', () => {
    const content = (name: string, limit: number | null) =>
      board({ metrics: [metric('m', { name, definition: definition({ limit }) })] });
    const versions = versionsOf([content('Sales', null), content('Revenue', 10), content('Turnover', 20)]);
    const { conflicts } = mergeDashboard(versions);
    expect(showConflicts(versions, conflicts)).toEqual([
      { path: 'metrics["m"].name', kind: 'changed-by-both', base: 'Sales', template: 'Revenue', tenant: 'Turnover' },
      { path: 'metrics["m"].definition.limit', kind: 'changed-by-both', base: null, template: 10, tenant: 20 },
    ]);
    const choices = { 'metrics["m"].name': 'template', 'metrics["m"].definition.limit': 'tenant' } as const;
    const { content: merged, conflicts: left } = mergeDashboard(versions, choices);
    expect(merged.metrics).toMatchObject([{ metricId: 'copy-m', name: 'Revenue', definition: { limit: 20 } }]);
    expect(left).toEqual([]);
  });

  it('bring a metric back that the tenant removed, with its card, and remove one that the template removed', () => {
    const card = (metricId: string) => ({ metricId, x: 0, y: 0, w: 6, h: 4 });
    const base = board({ metrics: [metric('m')], layout: [card('m')] });
    const changed = board({ metrics: [metric('m', { name: 'New' })], layout: [card('m')] });
    const none = board();
    const back = mergeDashboard(versionsOf([base, changed, none]), { 'metrics["m"]': 'template' });
    expect(back.content).toMatchObject({ metrics: [{ metricId: 'm', name: 'New' }], layout: [card('m')] });
    const gone = mergeDashboard(versionsOf([base, none, changed]), { 'metrics["m"]': 'template' });
    expect(gone.content).toMatchObject({ metrics: [], layout: [] });
    expect([back.conflicts, gone.conflicts]).toEqual([[], []]);
  });
});
