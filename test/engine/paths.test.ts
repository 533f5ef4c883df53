import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Relationship } from '../../src/domain/datamart/datamart.js';
import { findPath, isMultiplied, isMultiplying, joinTree } from '../../src/engine/question/paths.js';
import { refusalOf, relationship, tableRef } from './world.js';

const names = (steps: readonly { readonly relationship: Relationship }[]): readonly string[] =>
  steps.map((step) => step.relationship.relationshipName);

const edge = (from: string, to: string): Relationship => relationship(`${from}.k`, `${to}.k`);

describe('findPath', () => {
  const chain = [edge('a', 'b'), edge('c', 'b'), edge('c', 'd')];

  it('follows relationships in both directions', () => {
    expect(names(findPath(chain, tableRef('a'), tableRef('d')))).toEqual(['a.k-b.k', 'c.k-b.k', 'c.k-d.k']);
    expect(findPath(chain, tableRef('a'), tableRef('a'))).toEqual([]);
  });

  it('refuses if there is no path', async () => {
    expect(await refusalOf(() => findPath(chain, tableRef('a'), tableRef('z')))).toMatchObject({
      reason: 'path-missing',
    });
  });

  it.each([
    ['a diamond', [edge('a', 'b'), edge('a', 'c'), edge('b', 'd'), edge('c', 'd')]],
    ['parallel relationships', [relationship('a.origin', 'd.iata'), relationship('a.destination', 'd.iata')]],
    ['a detour', [edge('a', 'd'), edge('a', 'b'), edge('b', 'c'), edge('c', 'd')]],
  ])('findPath refuses an unclear way: %s', async (_, relationships) => {
    expect(await refusalOf(() => findPath(relationships, tableRef('a'), tableRef('d')))).toMatchObject({
      code: 'METRIC_QUERY_ERROR',
      reason: 'path-ambiguous',
    });
  });

  it('ignores a second path between other tables, and a table that refers to itself', () => {
    const elsewhere = [edge('a', 'd'), edge('d', 'e'), edge('d', 'f'), edge('e', 'f'), relationship('a.boss', 'a.id')];
    expect(names(findPath(elsewhere, tableRef('a'), tableRef('d')))).toEqual(['a.k-d.k']);
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
        const find = () => findPath(edges, tableRef(from), tableRef(to));
        if (expected === 1) expect(find().at(-1)?.far.tableName ?? from).toBe(to);
        else expect((await refusalOf(find)).reason).toBe(expected === 0 ? 'path-missing' : 'path-ambiguous');
      }),
      { seed: 7, numRuns: 500 },
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
    expect(findPath([one], tableRef('a'), tableRef('b')).map(({ kind }) => kind)).toEqual([join ?? 'LEFT JOIN']);
    expect(findPath([one], tableRef('b'), tableRef('a')).map(({ kind }) => kind)).toEqual([mirrored]);
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
      findPath([one], tableRef(from), tableRef(to)).map(isMultiplying);
    expect([...multiplies('a', 'b'), ...multiplies('b', 'a')]).toEqual([parent, child]);
  });
});

describe('joinTree', () => {
  const star = [edge('c', 'd'), edge('a', 'b'), edge('a', 'c')];

  it('is nearest first, then in the order of the datamart, whatever the order of the tables', () => {
    const tree = ['a.k-b.k', 'a.k-c.k', 'c.k-d.k'];
    expect(names(joinTree(star, tableRef('a'), [tableRef('d'), tableRef('b')]))).toEqual(tree);
    expect(names(joinTree(star, tableRef('a'), [tableRef('b'), tableRef('a'), tableRef('d'), tableRef('c')]))).toEqual(
      tree,
    );
  });

  it('a table is multiplied if any join on its path multiplies', () => {
    const tree = joinTree(star, tableRef('a'), [tableRef('d'), tableRef('b')]);
    expect(['a', 'b', 'c', 'd'].map((name) => isMultiplied(tree, tableRef(name)))).toEqual([false, true, true, true]);
  });
});
