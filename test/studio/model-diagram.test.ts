/** The diagram of a model: what it shows of whose rows each table holds, where its tables stand, and what its lines join. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bodyOf, keysOfDraft, type ModelDraft, storedOf } from '../../src/web/studio/base/drafted-model.js';
import {
  proposedModel,
  withAmountUsed,
  withColumnRead,
  withDrawn,
  withFilterUsed,
  withTable,
  withTenants,
} from '../../src/web/studio/base/model-draft.js';
import { withOwnership, withoutRelationship, withRelationship } from '../../src/web/studio/base/model-edit.js';
import { graphOf } from '../../src/web/studio/base/model-graph.js';
import { type Box, layOut, linesIn, neighbour } from '../../src/web/studio/base/model-layout.js';
import { movedTo, placesIn, steppedBy, withPlaces } from '../../src/web/studio/base/model-places.js';
import { type Keys, stateOf, tenancyOf } from '../../src/web/studio/base/model-tenancy.js';
import { leads, model, table } from './models.js';

const none: Keys = new Map();
const shop = model(
  [
    table('clients', ['id', 'name']),
    table('orders', ['id', 'client'], { clientColumn: 'client' }),
    table('lines', ['id', 'order', 'product']),
    table('products', ['code', 'name']),
  ],
  [leads('lines.order', 'orders.id'), leads('lines.product', 'products.code', null)],
);
const statesOf = (of: typeof shop, keys = none): readonly string[] => tenancyOf(of, keys).map(stateOf);

describe('whose rows the tables hold', () => {
  test('is derived along relationships, and a table without an owner is nobody’s', () => {
    expect(statesOf(shop)).toEqual(['owned', 'owned', 'derived', 'nobody’s']);
    expect(tenancyOf(shop, none)[2]?.path).toMatchObject([{ fromTable: 'main.lines', toTable: 'main.orders' }]);
  });

  test('follows each unsaved change', () => {
    expect(statesOf(withoutRelationship(shop, 'lines.order'))).toEqual(['owned', 'owned', 'nobody’s', 'nobody’s']);
    expect(statesOf(withOwnership(shop, 'main.products', 'shared'))).toEqual(['owned', 'owned', 'derived', 'shared']);
    expect(statesOf(withRelationship(shop, leads('products.code', 'orders.id')))[3]).toBe('derived');
  });

  test('follows an undeclared relationship only where a key proves it', () => {
    const undeclared = { ...shop, datamartRelationships: [leads('lines.order', 'orders.id', null)] };
    expect(statesOf(undeclared)[2]).toBe('nobody’s');
    expect(statesOf(undeclared, new Map([['main.orders', [['id']]]]))[2]).toBe('derived');
    expect(statesOf(undeclared, new Map([['main.orders', [['client', 'id']]]]))[2]).toBe('nobody’s');
  });
});

describe('the graph', () => {
  test('marks the lines that give rows their tenant, and what is many and one', () => {
    const { lines } = graphOf(shop, tenancyOf(shop, none), none, new Set());
    expect(lines).toMatchObject([
      { from: { table: 'main.lines', column: 'order' }, isTenancy: true, isFromMany: true, isToMany: false },
      { to: { table: 'main.products', column: 'code' }, isTenancy: false, isFromMany: null, isToMany: null },
    ]);
  });

  test('folds long tables, and never what a line, a key or the tenant needs', () => {
    const names = Array.from({ length: 40 }, (_, at) => `column_${at}`);
    const wide = model(
      [table('wide', names, { clientColumn: 'column_30' }), table('clients', ['id', 'name'])],
      [leads('wide.column_39', 'clients.id')],
    );
    const keys: Keys = new Map([['main.wide', [['column_20']]]]);
    const shown = (opened: readonly string[]) => graphOf(wide, tenancyOf(wide, keys), keys, new Set(opened)).tables[0];
    const kept = shown([])?.columns.map(({ name }) => name) ?? [];
    expect(kept).toEqual(expect.arrayContaining(['column_20', 'column_30', 'column_39']));
    expect(kept.length + (shown([])?.folded ?? 0)).toBe(40);
    expect(shown(['main.wide'])?.columns).toHaveLength(40);
  });
});

const overlaps = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

const models = fc
  .record({
    columns: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 40 }),
    links: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.constantFrom('ManyToOne', 'OneToMany', 'OneToOne', null)), {
      maxLength: 60,
    }),
  })
  .map(({ columns, links }) => {
    const tables = columns.map((count, at) =>
      table(
        `t${at}`,
        Array.from({ length: count }, (_, one) => `c${one}`),
      ),
    );
    const end = (at: number): string => {
      const index = at % columns.length;
      return `t${index}.c${at % (columns[index] ?? 1)}`;
    };
    const relationships = links.map(([from, to, cardinality], at) => ({
      ...leads(end(from), end(to), cardinality),
      relationshipName: String(at),
    }));
    return { ...model(tables, relationships), datamartOrganization: null };
  });

describe('the layout', () => {
  test('places each table beside the others, and each line at the rows of its columns', () => {
    fc.assert(
      fc.property(models, (any) => {
        const graph = graphOf(any, tenancyOf(any, none), none, new Set());
        const layout = layOut(graph);
        const boxes = [...layout.boxes.values()];
        expect(boxes).toHaveLength(any.datamartTables.length);
        for (const [at, box] of boxes.entries()) {
          expect([box.x, box.y].every((one) => Number.isFinite(one) && one >= 0)).toBe(true);
          expect(box.x + box.width).toBeLessThanOrEqual(layout.width);
          expect(box.y + box.height).toBeLessThanOrEqual(layout.height);
          expect(boxes.slice(at + 1).some((other) => overlaps(box, other))).toBe(false);
        }
        expect(linesIn(graph, layout.boxes)).toHaveLength(any.datamartRelationships.length);
        expect(layOut(graph)).toEqual(layout);
      }),
      { numRuns: 60 },
    );
  });

  test('the layout of a star of 80 tables is no thread', () => {
    const spokes = Array.from({ length: 79 }, (_, at) => table(`t${at}`, ['id', 'client', 'a', 'b', 'c', 'd']));
    const star = model(
      [table('clients', ['id', 'name']), ...spokes],
      spokes.map(({ tableName }) => leads(`${tableName}.client`, 'clients.id')),
    );
    const { width, height } = layOut(graphOf(star, tenancyOf(star, none), none, new Set()));
    expect(height).toBeLessThan(2000);
    expect(width / height).toBeLessThan(4);
  });

  test('leads the arrow keys to the nearest table on that side', () => {
    const { boxes } = layOut(graphOf(shop, tenancyOf(shop, none), none, new Set()));
    expect(neighbour(boxes, 'main.orders', 1)).toBe('main.lines');
    expect(neighbour(boxes, 'main.lines', 1)).toBeUndefined();
    expect(['main.orders', 'main.products']).toContain(neighbour(boxes, 'main.lines', -1));
  });
});

describe('a table that a person moved', () => {
  const layout = layOut(graphOf(shop, tenancyOf(shop, none), none, new Set()));

  test('stands where it was put, the others where they stood, and the plane holds all of them', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (x, y) => {
        const moved = withPlaces(layout, movedTo(new Map(), 'main.lines', { x, y }));
        const box = moved.boxes.get('main.lines');
        expect(box).toMatchObject({ x: Math.min(20_000, Math.max(0, x)), y: Math.min(20_000, Math.max(0, y)) });
        expect(moved.boxes.get('main.orders')).toEqual(layout.boxes.get('main.orders'));
        for (const one of moved.boxes.values()) {
          expect(one.x + one.width).toBeLessThanOrEqual(moved.width);
          expect(one.y + one.height).toBeLessThanOrEqual(moved.height);
        }
        const graph = graphOf(shop, tenancyOf(shop, none), none, new Set());
        expect(linesIn(graph, moved.boxes)).toHaveLength(2);
      }),
      { numRuns: 60 },
    );
  });

  test('is found again in the browser, and what is no place there is passed over', () => {
    const places = movedTo(movedTo(new Map(), 'main.lines', { x: 10.4, y: 20 }), 'main.gone', { x: 1, y: 1 });
    const stored = JSON.stringify(Object.fromEntries(places));
    expect(placesIn(stored)).toEqual(places);
    expect(withPlaces(layout, placesIn(stored)).boxes.size).toBe(4);
    expect(placesIn('{"a":{"x":"1","y":2},"b":null,"c":{"x":1},"d":{"x":-5,"y":1e9}}')).toEqual(
      new Map([['d', { x: 0, y: 20_000 }]]),
    );
    for (const text of [null, '', 'null', '[]', '{"a":', '7']) expect(placesIn(text)).toEqual(new Map());
  });

  test('goes one step for a key, never out of the plane', () => {
    expect(steppedBy({ x: 100, y: 100 }, 'ArrowRight')).toEqual({ x: 124, y: 100 });
    expect(steppedBy({ x: 10, y: 10 }, 'ArrowUp')).toEqual({ x: 10, y: 0 });
    expect(steppedBy({ x: 10, y: 10 }, 'Enter')).toBeUndefined();
  });
});

describe('a new model', () => {
  const source = (tableName: string, columns: readonly string[], primaryKey: readonly string[]) => ({
    ...{
      schemaName: 'main',
      tableName,
      kind: 'table' as const,
      estimatedRows: null,
      primaryKey,
      uniqueKeys: [],
      foreignKeys: [],
    },
    columns: columns.map((columnName) => ({
      ...{ columnName, datatype: 'BIGINT', kind: 'integer' as const, isNullable: false },
    })),
  });
  const catalogue: Parameters<typeof proposedModel>[0] = {
    ...{ name: 'shop', datasourceType: 'DUCKDB', tableCount: 2 },
    tables: [source('clients', ['id', 'full_name'], ['id']), source('orders', ['id', 'client'], ['id'])],
    proposals: {
      relationships: [],
      tenantTables: [
        {
          schemaName: 'main',
          tableName: 'clients',
          keyColumn: 'id',
          nameColumn: 'full_name',
          tablesReached: 1,
          reason: 'It is named so',
        },
      ],
      clientColumns: [],
      tenancyPaths: [],
      bridges: [],
      baseFilters: [],
      amounts: [],
    },
  };
  const draft = proposedModel(catalogue);
  const states = (of: ModelDraft) => tenancyOf(storedOf(of), keysOfDraft(of)).map(stateOf);

  test('is shown as it will be saved, and its colours follow each choice', () => {
    expect(states(draft)).toEqual(['owned']);
    const used = withTable(draft, 'main.orders', { isUsed: true });
    expect(states(used)).toEqual(['owned', 'nobody’s']);
    expect(states(withTable(used, 'main.orders', { ownership: { kind: 'shared' } }))).toEqual(['owned', 'shared']);
    const joined = {
      ...leads('main.orders.client', 'main.clients.id'),
      ...ends('main.orders', 'client', 'main.clients', 'id'),
    };
    const drawn = withDrawn(draft, joined);
    expect(states(drawn)).toEqual(['owned', 'derived']);
    expect(bodyOf(drawn)).toMatchObject({ relationships: [ends('main.orders', 'client', 'main.clients', 'id')] });
    expect(storedOf(draft).datamartTables[0]?.datamartTableColumns[1]?.label).toBe('Full name');
  });

  test('leaves out a table that nobody would own, with the reason, and columns named like secrets', () => {
    const reason = 'no column and no foreign key says which tenant its rows belong to';
    expect(draft.tables.map(({ isUsed, leftOut }) => [isUsed, leftOut])).toEqual([
      [true, null],
      [false, reason],
    ]);
    const { proposals: _, ...kept } = catalogue;
    const secret = source('clients', ['id', 'full_name', 'password_hash'], ['id']);
    const own = proposedModel({ ...kept, tables: [secret], proposals: catalogue.proposals });
    expect(bodyOf(own).tableList[0]?.columns.map(({ name }) => name)).toEqual(['id', 'full_name']);
    expect(bodyOf(own).tableList[0]?.leftOut).toEqual(['password_hash']);
    expect(own.tables[0]?.hidden).toEqual([{ columnName: 'password_hash', reason: 'named like a secret' }]);
  });

  test('proposes which tables are used anew when another table lists the tenants', () => {
    const other = withTenants(draft, 'main.orders');
    expect(other.tables.map(({ isUsed }) => isUsed)).toEqual([false, true]);
    expect(states(other)).toEqual(['owned']);
  });

  test('takes certain base filters, and people only when a person says what tenants read of them', () => {
    const ref = { schemaName: 'main', tableName: 'people' };
    const through = { relationship: 'seats.person', columns: ['id', 'name'] };
    const empty = (columnName: string) => ({ columnName, predicate: { kind: 'isNull' as const } });
    const pairing = { ...ends('main.seats', 'person', 'main.people', 'id'), cardinality: 'ManyToOne' as const };
    const proposed = proposedModel({
      ...{ name: 'shop', datasourceType: 'DUCKDB', tableCount: 3 },
      tables: [
        source('clients', ['id'], ['id']),
        source('people', ['id', 'name', 'email', 'gone', 'test'], ['id']),
        source('seats', ['client', 'person'], ['client', 'person']),
      ],
      proposals: {
        relationships: [
          {
            relationship: { ...pairing, relationshipName: 'seats.person' },
            ...{ basis: 'foreignKey', reason: '', isSecondWay: false },
          },
        ],
        tenantTables: [],
        clientColumns: [],
        tenancyPaths: [],
        bridges: [{ ...ref, through, bridge: 'main.seats', askedColumns: ['email'], reason: 'they share people' }],
        baseFilters: [
          { ...ref, filter: empty('gone'), isCertain: true, reason: 'gone' },
          { ...ref, filter: empty('test'), isCertain: false, reason: 'perhaps' },
        ],
        amounts: [],
      },
    });
    const peopleIn = (of: ModelDraft) => [bodyOf(of).tableList[1], storedOf(of).datamartTables[1]];
    for (const people of peopleIn(proposed)) {
      expect(people).toMatchObject({ baseFilters: [empty('gone')] });
      expect(people).not.toHaveProperty('through');
    }
    const taken = withTable(proposed, 'main.people', { ownership: { kind: 'through', through } });
    const changed = withFilterUsed(withColumnRead(taken, 'main.people', 'email', true), 'main.people', 0, false);
    for (const people of peopleIn(withColumnRead(changed, 'main.people', 'name', false))) {
      expect(people).toMatchObject({ through: { relationship: 'seats.person', columns: ['id', 'email'] } });
      expect(people).not.toHaveProperty('baseFilters');
    }
    expect(withColumnRead(proposed, 'main.people', 'email', true)).toEqual(proposed);
  });

  test('takes amounts of money, and no currency of a tenant where rows are not one tenant’s', () => {
    const master = { schemaName: 'main', tableName: 'clients' };
    const orders = { schemaName: 'main', tableName: 'orders' };
    const proposed = proposedModel({
      ...{ name: 'shop', datasourceType: 'DUCKDB', tableCount: 2 },
      tables: [source('clients', ['id', 'currency'], ['id']), source('orders', ['id', 'total_cents', 'paid'], ['id'])],
      proposals: {
        ...{ relationships: [], clientColumns: [], tenancyPaths: [], bridges: [], baseFilters: [] },
        tenantTables: [{ ...master, keyColumn: 'id', nameColumn: 'id', tablesReached: 1, reason: '' }],
        amounts: [
          {
            ...orders,
            ...{ columnName: 'total_cents', numbers: { scale: 2, currency: { tenantColumn: 'currency' } } },
            ...{ label: 'Total', reason: '' },
          },
          { ...orders, columnName: 'paid', numbers: { currency: 'EUR' }, label: null, reason: '' },
        ],
      },
    });
    const columnsOf = (of: ModelDraft) => {
      const columns = bodyOf(of).tableList.at(-1)?.columns.slice(1);
      const stored = storedOf(of).datamartTables.at(-1)?.datamartTableColumns.slice(1);
      expect(stored?.map(({ numbers, label }) => [label, numbers ?? undefined])).toEqual(
        columns?.map(({ numbers, label }) => [label, numbers]),
      );
      return columns;
    };
    const paid = { name: 'paid', label: 'Paid', numbers: { currency: 'EUR' } };
    const total = {
      name: 'total_cents',
      label: 'Total',
      numbers: { scale: 2, currency: { tenantColumn: 'currency' } },
    };
    // Its rows have no tenant yet.
    const owned = withTable(proposed, 'main.orders', { isUsed: true });
    expect(columnsOf(owned)).toEqual([total, paid]);
    const whole = { ...total, numbers: { scale: 2 } };
    expect(columnsOf(withTable(owned, 'main.orders', { ownership: { kind: 'shared' } }))).toEqual([whole, paid]);
    expect(columnsOf(withTenants(owned, 'main.orders'))).toEqual([whole, paid]);
    expect(columnsOf(withAmountUsed(owned, 'main.orders', 0, false))).toEqual([
      { name: 'total_cents', label: 'Total cents' },
      paid,
    ]);
  });
});

const ends = (parentTableName: string, parentColumnName: string, childTableName: string, childColumnName: string) => ({
  ...{ parentTableName, parentColumnName, childTableName, childColumnName },
});
