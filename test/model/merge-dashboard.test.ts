import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import type { CopySettings } from '../../src/model/dashboard/embed.js';
import { isSameBoard, mergeDashboard } from '../../src/model/dashboard/merge/merge-dashboard.js';
import { board, contents, copyOf, definition, histories, leavesOf, metric } from './boards.js';

const merge = (base: DashboardContent, template: DashboardContent, tenant: DashboardContent) =>
  mergeDashboard({ base, template, tenant });

const numRuns = 200;

describe('three-way merge of a template into a copy', () => {
  it('an unchanged template changes nothing: merge(base, base, x) = x', () => {
    fc.assert(
      fc.property(contents, contents, (base, x) => {
        const tenant = copyOf(x);
        const merged = merge(base, base, tenant);
        expect(merged.content).toEqual(tenant);
        expect(merged).toMatchObject({ conflicts: [], isChanged: false });
      }),
      { numRuns },
    );
  });

  it('an unchanged copy becomes the new template: merge(base, x, base) = x', () => {
    fc.assert(
      fc.property(contents, contents, (base, x) => {
        const merged = merge(base, x, copyOf(base));
        expect(merged).toMatchObject({ conflicts: [], isEdited: false });
        expect(isSameBoard(merged.content, x, base, x)).toBe(true);
        expect(leavesOf(merged.content)).toEqual(leavesOf(x));
        // The metrics are in the template's order, and existing metrics keep their ids.
        const ids = merged.content.metrics.map(({ metricId }) => metricId.replace('copy-', ''));
        expect(ids).toEqual(x.metrics.map(({ metricId }) => metricId));
        for (const { metricId } of base.metrics)
          expect(merged.content.metrics.map((one) => one.metricId)).not.toContain(metricId);
      }),
      { numRuns },
    );
  });

  it('equal changes of both are no conflict: merge(base, x, x) = x', () => {
    fc.assert(
      fc.property(contents, contents, (base, x) => {
        const tenant = copyOf(x);
        const merged = merge(base, x, tenant);
        expect(merged.content).toEqual(tenant);
        expect(merged).toMatchObject({ conflicts: [], isChanged: false });
      }),
      { numRuns },
    );
  });

  it('no edit of a tenant is lost, with or without conflicts', () => {
    fc.assert(
      fc.property(contents, contents, contents, (base, template, x) => {
        const [before, own] = [leavesOf(base), leavesOf(copyOf(x))];
        const after = leavesOf(merge(base, template, copyOf(x)).content);
        for (const path of new Set([...before.keys(), ...own.keys()])) {
          if (before.get(path) === own.get(path)) continue;
          expect(after.get(path), path).toBe(own.get(path));
        }
      }),
      { numRuns },
    );
  });

  it('without a conflict, every change of the template arrives', () => {
    fc.assert(
      fc.property(histories, ({ base, template, tenant }) => {
        const { content, conflicts } = merge(base, template, tenant);
        fc.pre(conflicts.length === 0);
        const [before, there, own] = [leavesOf(base), leavesOf(template), leavesOf(tenant)];
        const after = leavesOf(content);
        for (const path of new Set([...before.keys(), ...there.keys()])) {
          if (before.get(path) === there.get(path) || before.get(path) !== own.get(path)) continue;
          // Cards may be moved below those that the tenant arranged.
          if (path.endsWith(' cards') && after.has(path)) continue;
          expect(after.get(path), path).toBe(there.get(path));
        }
      }),
      { numRuns },
    );
  });

  it('is deterministic, and repeating it changes nothing', () => {
    fc.assert(
      fc.property(histories, ({ base, template, tenant }) => {
        const once = merge(base, template, tenant);
        expect(merge(base, template, tenant)).toEqual(once);
        if (once.conflicts.length === 0) expect(merge(template, template, once.content).isChanged).toBe(false);
      }),
      { numRuns },
    );
  });
});

describe('conflicts and neighbours', () => {
  const base = board({
    metrics: [metric('a'), metric('b')],
    layout: [
      { metricId: 'a', x: 0, y: 0, w: 6, h: 4 },
      { metricId: 'b', x: 6, y: 0, w: 6, h: 4 },
    ],
  });
  const named = (content: DashboardContent, id: string, parts: object): DashboardContent => ({
    ...content,
    metrics: content.metrics.map((one) => (one.metricId.endsWith(id) ? { ...one, ...parts } : one)),
  });
  const without = (content: DashboardContent, id: string): DashboardContent => ({
    ...content,
    metrics: content.metrics.filter(({ metricId }) => !metricId.endsWith(id)),
    layout: content.layout.filter(({ metricId }) => !metricId.endsWith(id)),
  });
  const conflictsOf = (template: DashboardContent, tenant: DashboardContent) => merge(base, template, tenant).conflicts;

  it('different fields of one metric are merged; a field that both changed is a conflict at its path', () => {
    const tenant = named(copyOf(base), 'a', { name: 'Ours' });
    const narrowed = named(base, 'a', { definition: definition({ limit: 5 }) });
    const merged = merge(base, narrowed, tenant);
    expect(merged.conflicts).toEqual([]);
    expect(merged.content.metrics[0]).toMatchObject({ metricId: 'copy-a', name: 'Ours', definition: { limit: 5 } });
    expect(conflictsOf(named(base, 'a', { name: 'Theirs' }), tenant)).toEqual([
      { path: 'metrics["a"].name', kind: 'changed-by-both' },
    ]);
  });

  it('a metric that one side removed and the other changed stays as the tenant has it', () => {
    const edited = named(copyOf(base), 'b', { name: 'Ours' });
    const removed = merge(base, without(base, 'b'), edited);
    expect(removed.conflicts).toEqual([{ path: 'metrics["b"]', kind: 'removed-by-template' }]);
    expect(removed.content).toEqual(edited);
    const gone = without(copyOf(base), 'b');
    expect(conflictsOf(named(base, 'b', { name: 'New' }), gone)).toEqual([
      { path: 'metrics["b"]', kind: 'removed-by-tenant' },
    ]);
    expect(merge(base, without(base, 'b'), copyOf(base)).content).toEqual(gone);
  });

  it('a moved card keeps its metric; if the template removes the metric, that is a conflict', () => {
    const moved = { ...copyOf(base), layout: copyOf(base).layout.map((card) => ({ ...card, y: card.y + 4 })) };
    const merged = merge(base, without(base, 'b'), moved);
    expect(merged.conflicts).toEqual([{ path: 'metrics["b"]', kind: 'removed-by-template' }]);
    expect(merged.content.layout).toEqual(moved.layout);
  });

  it("a tenant's own metric stays, and a new card of the template is placed below cards that it would overlap", () => {
    const own = metric('own', { lineage: [] });
    const tenant = {
      ...copyOf(base),
      metrics: [...copyOf(base).metrics, own],
      layout: [...copyOf(base).layout, { metricId: 'own', x: 0, y: 4, w: 12, h: 4 }],
    };
    const grown = {
      ...base,
      metrics: [...base.metrics, metric('c')],
      layout: [...base.layout, { metricId: 'c', x: 0, y: 4, w: 6, h: 3 }],
    };
    const { content, conflicts } = merge(base, grown, tenant);
    expect(conflicts).toEqual([]);
    expect(content.metrics.map(({ metricId }) => metricId)).toEqual(['copy-a', 'copy-b', 'c', 'own']);
    expect(content.layout.find(({ metricId }) => metricId === 'c')).toEqual({ metricId: 'c', x: 0, y: 8, w: 6, h: 3 });
  });

  it('changes that are inconsistent together are a conflict of the complete definition', () => {
    const renamed = named(base, 'a', {
      definition: definition({ measures: [{ name: 'Number', aggregate: 'COUNT' }] }),
    });
    const sorted = named(copyOf(base), 'a', {
      definition: definition({ sort: [{ name: 'Count', direction: 'ASC' }] }),
    });
    const merged = merge(base, renamed, sorted);
    expect(merged.conflicts).toEqual([{ path: 'metrics["a"].definition', kind: 'changed-by-both' }]);
    expect(merged.content).toEqual(sorted);
  });

  it("a filter whose type changed is one unit, and a second copy of a metric counts as the tenant's own", () => {
    const on = (dataType: 'string' | 'number', parts: object = {}) => [
      {
        name: 'State',
        dataType,
        applyOnTables: [{ schemaName: 'main', tableName: 'sales', columnName: 'state', dataType }],
        ...parts,
      },
    ];
    const filtered = { ...base, filters: on('string') };
    const merged = merge(
      filtered,
      { ...base, filters: on('number') },
      { ...copyOf(filtered), filters: on('string', { defaultValue: 'CA' }) },
    );
    expect(merged.conflicts).toEqual([{ path: 'filters["state"]', kind: 'changed-by-both' }]);
    const twice = { ...copyOf(base), metrics: [...copyOf(base).metrics, metric('second', { lineage: ['a'] })] };
    expect(merge(base, named(base, 'a', { name: 'New' }), twice).content.metrics.map(({ name }) => name)).toEqual([
      'New',
      'b',
      'second',
    ]);
  });

  it('fields that a copy does not take from its template stay unchanged', () => {
    const tenant = {
      ...copyOf(base),
      metadata: { guestlist: { template: 'delays' } },
      isAllowPrivateMetricsByDefault: true,
    };
    const { content } = merge(base, { ...base, gridMargin: [4], metadata: { author: 'us' } }, tenant);
    expect(content).toEqual({ ...tenant, gridMargin: [4] });
  });
});

const settings = fc
  .record({
    name: fc.constantFrom('Sales', 'Revenue', 'Turnover'),
    accessSettings: fc.record(
      {
        isAllowEmailReports: fc.boolean(),
        isAllowUnderlyingData: fc.boolean(),
        isAllowAiPilot: fc.boolean(),
        joinModel: fc.constantFrom('single', 'multi'),
        tableTenancySettings: fc.subarray([{ name: 'main.sales', clientColumn: 'owner' }]),
      },
      { requiredKeys: [] },
    ),
  })
  .map((given) => given as unknown as CopySettings);

const withSettings = (given: CopySettings | undefined): DashboardContent =>
  given === undefined ? board() : board({ settings: given });

const flat = (given: CopySettings | undefined): Readonly<Record<string, unknown>> => ({
  'settings.name': given?.name,
  ...Object.fromEntries(
    Object.entries(given?.accessSettings ?? {}).map(([name, value]) => [`settings.accessSettings.${name}`, value]),
  ),
});

describe('three-way merge of settings', () => {
  it('each setting takes the template’s change, keeps the tenant’s, and conflicts exactly where both differ', () => {
    fc.assert(
      fc.property(fc.option(settings, { nil: undefined }), settings, settings, (base, template, tenant) => {
        const merged = merge(withSettings(base), withSettings(template), withSettings(tenant));
        const [old, now, own, after] = [base, template, tenant, merged.content.settings].map(flat);
        const conflicts = merged.conflicts.map(({ path }) => path);
        for (const path of new Set([old, now, own].flatMap((one) => Object.keys(one ?? {})))) {
          const at = [old?.[path], now?.[path], own?.[path]].map((value) => JSON.stringify(value));
          const isTorn = at[0] !== at[2] && at[0] !== at[1] && at[1] !== at[2];
          expect(conflicts.includes(path)).toBe(isTorn);
          expect(after?.[path]).toEqual(at[0] === at[2] ? now?.[path] : own?.[path]);
        }
      }),
      { numRuns },
    );
  });

  it('a version without settings leaves those of the copy as they are', () => {
    fc.assert(
      fc.property(fc.option(settings, { nil: undefined }), settings, (base, tenant) => {
        const merged = merge(withSettings(base), board(), withSettings(tenant));
        expect(merged).toMatchObject({ conflicts: [], isChanged: false });
        expect(merged.content.settings).toEqual(tenant);
        const older = merge(withSettings(base), withSettings(tenant), board());
        expect(older.content).not.toHaveProperty('settings');
      }),
      { numRuns },
    );
  });

  it('a conflict that is decided for the template gets its value, and no other setting changes', () => {
    fc.assert(
      fc.property(settings, settings, settings, (base, template, tenant) => {
        const versions = { base: withSettings(base), template: withSettings(template), tenant: withSettings(tenant) };
        const { conflicts, content } = mergeDashboard(versions);
        const choices = Object.fromEntries(conflicts.map(({ path }) => [path, 'template' as const]));
        const decided = mergeDashboard(versions, choices);
        expect(decided.conflicts).toEqual([]);
        const [now, before, after] = [template, content.settings, decided.content.settings].map(flat);
        for (const path of new Set([now, before, after].flatMap((one) => Object.keys(one ?? {}))))
          expect(after?.[path]).toEqual(path in choices ? now?.[path] : before?.[path]);
      }),
      { numRuns },
    );
  });
});
