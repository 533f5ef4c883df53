import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findPath, isMultiplying, joinTree, spreadOver } from '../../src/engine/question/paths.js';
import type { Relationship } from '../../src/model/datamart/datamart.js';
import { findWay } from '../../src/model/datamart/ways.js';
import { byClients, refusalOf, relationship, table, tableRef } from './world.js';

const names = (steps: readonly { readonly relationship: Relationship }[]): readonly string[] =>
  steps.map((step) => step.relationship.relationshipName);

/** Without tenancy, so that no table is the tenants' own. */
const plain = (relationships: readonly Relationship[]) => ({ relationships, tables: [], tenancy: null });

const edge = (from: string, to: string): Relationship => relationship(`${from}.k`, `${to}.k`);

describe('findPath', () => {
  const chain = [edge('a', 'b'), edge('c', 'b'), edge('c', 'd')];

  it('follows relationships in both directions', () => {
    expect(names(findPath(plain(chain), tableRef('a'), tableRef('d')))).toEqual(['a.k-b.k', 'c.k-b.k', 'c.k-d.k']);
    expect(findPath(plain(chain), tableRef('a'), tableRef('a'))).toEqual([]);
  });

  it('refuses if there is no path', async () => {
    expect(await refusalOf(() => findPath(plain(chain), tableRef('a'), tableRef('z')))).toMatchObject({
      reason: 'path-missing',
    });
  });

  it.each([
    ['a diamond', [edge('a', 'b'), edge('a', 'c'), edge('b', 'd'), edge('c', 'd')]],
    ['parallel relationships', [relationship('a.origin', 'd.iata'), relationship('a.destination', 'd.iata')]],
    ['a detour', [edge('a', 'd'), edge('a', 'b'), edge('b', 'c'), edge('c', 'd')]],
    // metabase#2635: of two keys to one table, a filter used the one of the grouping.
  ])('findPath refuses an unclear way: %s', async (_, relationships) => {
    expect(await refusalOf(() => findPath(plain(relationships), tableRef('a'), tableRef('d')))).toMatchObject({
      code: 'METRIC_QUERY_ERROR',
      reason: 'path-ambiguous',
    });
  });

  it('ignores a second path between other tables, and a table that refers to itself', () => {
    const elsewhere = [edge('a', 'd'), edge('d', 'e'), edge('d', 'f'), edge('e', 'f'), relationship('a.boss', 'a.id')];
    expect(names(findPath(plain(elsewhere), tableRef('a'), tableRef('d')))).toEqual(['a.k-d.k']);
  });

  /** Counts all simple paths by brute force. */
  const countPaths = (edges: readonly Relationship[], from: string, to: string, seen: readonly string[]): number => {
    if (from === to) return 1;
    return edges.reduce((sum, one) => {
      const next = [one.parent, one.child].find(({ tableName }) => tableName !== from)?.tableName;
      const touches = one.parent.tableName === from || one.child.tableName === from;
      return next === undefined || !touches || seen.includes(next)
        ? sum
        : sum + countPaths(edges, next, to, [...seen, next]);
    }, 0);
  };

  it('finds a path exactly if there is one and no second one', async () => {
    const node = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(node, node), { maxLength: 7 }), node, node, async (pairs, from, to) => {
        const edges = pairs.map(([one, two]) => edge(one, two));
        const expected = countPaths(edges, from, to, [from]);
        const find = () => findPath(plain(edges), tableRef(from), tableRef(to));
        if (expected === 1) expect(find().at(-1)?.far.tableName ?? from).toBe(to);
        else expect((await refusalOf(find)).reason).toBe(expected === 0 ? 'path-missing' : 'path-ambiguous');
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});

describe("a way beside the tenants' own table", () => {
  const owned = ['invoices', 'projects', 'teams', 'lines'];
  const tables = owned.map((name) => table(name, { tenant: 'VARCHAR' }, name === 'lines' ? null : 'tenant'));
  const martOf = (relationships: readonly Relationship[]) => ({ relationships, tables, tenancy: byClients() });
  const keyOf = (from: string): Relationship => relationship(`${from}.tenant`, 'clients.id');
  const wayOf = (relationships: readonly Relationship[], from: string, to: string): readonly string[] =>
    names(findPath(martOf(relationships), tableRef(from), tableRef(to)));
  const invoices = [keyOf('invoices'), keyOf('projects'), edge('invoices', 'projects'), edge('lines', 'invoices')];

  it('the direct foreign key wins over a way through the table of tenants', async () => {
    expect(wayOf(invoices, 'invoices', 'projects')).toEqual(['invoices.k-projects.k']);
    expect(wayOf(invoices, 'projects', 'invoices')).toEqual(['invoices.k-projects.k']);
    expect(wayOf(invoices, 'lines', 'projects')).toEqual(['lines.k-invoices.k', 'invoices.k-projects.k']);
    const find = () => findPath(plain(invoices), tableRef('invoices'), tableRef('projects'));
    expect(await refusalOf(find)).toMatchObject({ reason: 'path-ambiguous' });
  });

  it('a way to the table of tenants takes the key of the first table that has one', () => {
    expect(wayOf(invoices, 'invoices', 'clients')).toEqual(['invoices.tenant-clients.id']);
    expect(wayOf(invoices, 'lines', 'clients')).toEqual(['lines.k-invoices.k', 'invoices.tenant-clients.id']);
  });

  it('a way through the table of tenants stays where it is the only one', () => {
    const apart = [keyOf('invoices'), keyOf('teams'), edge('lines', 'invoices'), edge('people', 'teams')];
    expect(wayOf(apart, 'lines', 'people')).toEqual([
      'lines.k-invoices.k',
      'invoices.tenant-clients.id',
      'teams.tenant-clients.id',
      'people.k-teams.k',
    ]);
  });

  it.each([
    ['from the table of tenants', invoices, 'clients', 'projects'],
    ['on through the table of tenants', [...invoices, keyOf('teams')], 'lines', 'teams'],
    ['two keys', [...invoices, keyOf('invoices')], 'lines', 'clients'],
    ['two tables with a key', [...invoices, edge('lines', 'projects')], 'lines', 'clients'],
    ['two ways beside it', [...invoices, edge('lines', 'projects')], 'lines', 'projects'],
    [
      'a relationship with it that is no key',
      [...invoices, relationship('teams.of', 'clients.id')],
      'lines',
      'projects',
    ],
    ['a key of another column', [...invoices, relationship('teams.tenant', 'clients.code')], 'lines', 'projects'],
    ['a key of a table that has no client column', [...invoices, keyOf('lines')], 'lines', 'projects'],
  ])('several ways stay refused: %s', async (_, relationships, from, to) => {
    const refusal = await refusalOf(() => wayOf(relationships, from, to));
    expect(refusal).toMatchObject({ reason: 'path-ambiguous' });
  });

  it('tables that have only the tenant in common are named so, with the way to hide what cannot be restricted', async () => {
    const apart = [...invoices, keyOf('teams')];
    const { message } = await refusalOf(() => wayOf(apart, 'lines', 'teams'));
    expect(message).toMatch(/main\.lines and main\.teams have only the tenant in common.*by hideMetrics\.$/);
    const beside = [...invoices, edge('lines', 'projects')];
    expect((await refusalOf(() => wayOf(beside, 'lines', 'projects'))).message).toContain('More than one way');
  });

  it('tables that are joined together are each joined once, whatever the datamart', () => {
    const name = fc.constantFrom(...owned, 'clients');
    const link = ([one, two]: readonly [string, string]): Relationship => {
      if (one === 'clients') return keyOf(two);
      return two === 'clients' ? keyOf(one) : edge(one, two);
    };
    fc.assert(
      fc.property(fc.array(fc.tuple(name, name), { maxLength: 8 }), name, fc.array(name), (pairs, root, asked) => {
        const mart = { ...martOf(pairs.map(link)), tables: owned.map((one) => table(one, {}, 'tenant')) };
        const isFound = (one: string) => findWay(mart, tableRef(root), tableRef(one)).kind === 'one';
        const joined = joinTree(mart, tableRef(root), asked.filter(isFound).map(tableRef));
        const reached = [root, ...joined.map(({ far }) => far.tableName)];
        expect(new Set(reached).size).toBe(reached.length);
        expect(joined.every(({ near }, at) => reached.slice(0, at + 1).includes(near.tableName))).toBe(true);
      }),
      { seed: 7, numRuns: 2000 },
    );
  });
});

describe('a step', () => {
  it.each([
    ['INNER JOIN', 'INNER JOIN'],
    ['LEFT JOIN', 'RIGHT JOIN'],
    ['RIGHT JOIN', 'LEFT JOIN'],
    ['FULL JOIN', 'FULL JOIN'],
    [null, 'RIGHT JOIN'],
  ] as const)('a step over %s is %s from the child', (join, mirrored) => {
    const one = relationship('a.k', 'b.k', join);
    expect(findPath(plain([one]), tableRef('a'), tableRef('b')).map(({ kind }) => kind)).toEqual([join ?? 'LEFT JOIN']);
    expect(findPath(plain([one]), tableRef('b'), tableRef('a')).map(({ kind }) => kind)).toEqual([mirrored]);
  });

  it.each([
    ['ManyToOne', false, true],
    ['OneToMany', true, false],
    ['OneToOne', false, false],
    ['ManyToMany', true, true],
    [null, true, true],
  ] as const)('a step over %s multiplies: from the parent %s, from the child %s', (cardinality, parent, child) => {
    const one = relationship('a.k', 'b.k', null, cardinality);
    const multiplies = (from: string, to: string): readonly boolean[] =>
      findPath(plain([one]), tableRef(from), tableRef(to)).map(isMultiplying);
    expect([...multiplies('a', 'b'), ...multiplies('b', 'a')]).toEqual([parent, child]);
  });
});

describe('joinTree', () => {
  const star = [edge('c', 'd'), edge('a', 'b'), edge('a', 'c')];

  it('is nearest first, then in the order of the datamart, whatever the order of the tables', () => {
    const tree = ['a.k-b.k', 'a.k-c.k', 'c.k-d.k'];
    expect(names(joinTree(plain(star), tableRef('a'), [tableRef('d'), tableRef('b')]))).toEqual(tree);
    expect(
      names(joinTree(plain(star), tableRef('a'), [tableRef('b'), tableRef('a'), tableRef('d'), tableRef('c')])),
    ).toEqual(tree);
  });

  it('a row of a table spreads over each table that a multiplying join leads to', () => {
    const tree = joinTree(plain(star), tableRef('a'), [tableRef('d'), tableRef('b')]);
    const spread = ['a', 'b', 'c', 'd'].map((name) =>
      spreadOver(tree, tableRef(name)).map(({ tableName }) => tableName),
    );
    expect(spread).toEqual([[], ['a', 'c', 'd'], ['a', 'b'], ['c', 'a', 'b']]);
  });
});
