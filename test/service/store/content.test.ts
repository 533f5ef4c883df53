/** The size of the content cache. The store's suite tests what may be cached at all. */
import { expect, it } from 'vitest';
import type { ContentRevision } from '../../../src/model/brand.js';
import type { ContentStore } from '../../../src/service/store/content.js';
import { createContent } from '../../../src/service/store/content.js';

const revision = '1' as ContentRevision;

/** A source with dashboards of the size in their ids. Records what was read. */
const createSource = () => {
  const asked: string[] = [];
  const findById = async (id: string) => {
    asked.push(id);
    return { text: 'x'.repeat(Number(id)) };
  };
  const other = new Proxy({}, { get: () => async () => undefined });
  const store = new Proxy({}, { get: (_, name) => (name === 'dashboards' ? { findById } : other) });
  return { asked, store: store as ContentStore };
};

it('is bounded by its size: what was used least recently goes, and what is too large is not kept', async () => {
  const { asked, store } = createSource();
  const { dashboards } = createContent(store, 10_000)(revision);
  for (const id of ['3000', '3001', '3000', '3002', '3000', '3001', '20000', '20000']) await dashboards.findById(id);
  expect(asked).toEqual(['3000', '3001', '3002', '3001', '20000', '20000']);
});

it('those that ask at once are answered together', async () => {
  const { asked, store } = createSource();
  const { dashboards } = createContent(store)(revision);
  const answers = await Promise.all(['5', '5', '5'].map((id) => dashboards.findById(id)));
  expect(new Set(answers).size).toBe(1);
  expect(asked).toEqual(['5']);
});
