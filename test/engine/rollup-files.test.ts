/** Which files a question of one client reads: all that have its rows, as the database orders them, and few others. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mayHave } from '../../src/engine/rollups/client-span.js';
import type { RollupColumn } from '../../src/engine/rollups/layout.js';

const layoutWith = (kind: RollupColumn['type']['kind']) => ({
  columns: [{ name: 'client', role: 'client', of: 'client', type: { kind, cast: '' }, stored: '' } as RollupColumn],
});

const values = {
  // The last two are ordered otherwise by units of 16 bits than by bytes.
  text: ['', ' acme', 'ACME', 'acme', 'acme ', 'a10', 'a9', 'Zeta', 'ácme', '\uffee', '\u{1f600}'],
  integer: ['-10', '-9', '0', '9', '10', '9007199254740993', '9007199254740992'],
  uuid: [
    '00000000-0000-0000-0000-00000000000a',
    '7fffffff-0000-0000-0000-000000000000',
    'f0000000-0000-4000-8000-000000000001',
  ],
} as const;
const stored = { text: 'VARCHAR', integer: 'BIGINT', uuid: 'UUID' } as const;

describe('files of a client', () => {
  let instance: DuckDBInstance;
  let connection: DuckDBConnection;
  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:');
    connection = await instance.connect();
  });
  afterAll(() => {
    connection.closeSync();
    instance.closeSync();
  });

  it.each(['text', 'integer', 'uuid'] as const)('are those that DuckDB would find a %s in', async (kind) => {
    const list = values[kind].map((value) => `('${value}'::${stored[kind]})`).join(', ');
    const asked = `WITH v(x) AS (VALUES ${list}) SELECT a.x::VARCHAR, b.x::VARCHAR, c.x::VARCHAR, c.x BETWEEN a.x AND b.x
      FROM v a, v b, v c WHERE a.x <= b.x`;
    const found = (await connection.runAndReadAll(asked)).getRows();
    const wrong = found.filter(
      ([first, last, client, isIn]) =>
        mayHave([String(first), String(last)], String(client), layoutWith(kind)) !== isIn,
    );
    expect(wrong).toEqual([]);
    expect(found.length).toBeGreaterThan(10);
  });

  it('are all of them where it is not certain', () => {
    expect(mayHave(null, 'acme', layoutWith('text'))).toBe(true);
    expect(mayHave(['a', 'b'], undefined, layoutWith('text'))).toBe(true);
    expect(mayHave(['a', 'b'], 'c', layoutWith('date'))).toBe(true);
    expect(mayHave(['1', '2'], ' 1', layoutWith('integer'))).toBe(true);
    const [first = ''] = values.uuid;
    expect(mayHave([first, first], first.toUpperCase(), layoutWith('uuid'))).toBe(true);
    expect(mayHave(['a', 'b'], 'c', { columns: [] })).toBe(true);
  });
});
