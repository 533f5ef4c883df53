/**
 * A column that is renamed, dropped or revoked after the catalog was read costs only the metrics that read it
 * (metabase#39008, metabase#6108: questions kept reading a column that was dropped or renamed, and failed).
 */
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/model/query/engine.js';
import { onServer } from '../suites/postgres.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import {
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  type LogLine,
  metric,
  type Place,
  question,
  refusalOf,
  table,
} from './world.js';

const columns = { id: 'BIGINT', kept: 'VARCHAR', lost: 'VARCHAR' };
const mart = datamart({ tenancy: null, tables: [table('t', columns)] });
const of = (name: string) => metric('t', { dimensions: [{ name: 'd', column: columnRef(`t.${name}`) }] });

describe.each((await findKinds()).filter((kind) => kind !== 'DUCKDB' && kind !== 'SQLITE'))('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  let lines: LogLine[];
  let now = Date.UTC(2024, 0, 1);

  beforeAll(async () => {
    builder = await createBuilder(kind);
  });
  afterAll(() => builder.remove());

  /** A table whose catalog the engine has read, two seconds ago. */
  const openTable = async (): Promise<void> => {
    place = await builder.build('lost', [{ name: 't', columns, rows: [[1, 'a', 'b']] }]);
    ({ engine, lines } = createLoggedEngine({ clock: { now: () => new Date(now) } }));
    await expect(valuesOf('kept')).resolves.toEqual(['a']);
    await expect(valuesOf('lost')).resolves.toEqual(['b']);
    now += 2000;
  };
  const valuesOf = async (name: string, at = place): Promise<readonly unknown[]> => {
    const { rows } = await engine.query(question(at, mart, 'None', of(name)));
    return rows.map(({ d }) => d);
  };
  const run = async (...texts: readonly string[]): Promise<void> => builder.run?.(place, texts);

  it.each([
    ['dropped', 'ALTER TABLE t DROP COLUMN lost'],
    ['renamed', 'ALTER TABLE t RENAME COLUMN lost TO found'],
  ])('a column that is %s breaks the metric that reads it, by name, and no other', async (_, statement) => {
    await openTable();
    await run(statement);
    await expect(valuesOf('kept')).resolves.toEqual(['a']);
    const refusal = await refusalOf(() => valuesOf('lost'));
    expect(refusal.reason).toBe('column-not-in-datasource');
    expect(refusal.message).toContain(`${place.schemaName}.t.lost`);
    expect(inspect(lines, { depth: null })).toContain('lost');
    await engine.close();
  });

  it('a column that comes back is read again without a call of anybody', async () => {
    await openTable();
    await run('ALTER TABLE t RENAME COLUMN lost TO found');
    expect((await refusalOf(() => valuesOf('lost'))).reason).toBe('column-not-in-datasource');
    await run('ALTER TABLE t RENAME COLUMN found TO lost');
    now += 60_000;
    await expect(valuesOf('lost')).resolves.toEqual(['b']);
    await engine.close();
  });

  it('after a column was dropped, one statement fails, and the next ones name it no more', async () => {
    await openTable();
    const failures = () => lines.filter(({ details }) => JSON.stringify(details).includes('query.failed')).length;
    await run('ALTER TABLE t DROP COLUMN lost');
    await expect(valuesOf('kept')).resolves.toEqual(['a']);
    expect(failures()).toBe(1);
    await expect(valuesOf('kept')).resolves.toEqual(['a']);
    expect(failures()).toBe(1);
    await engine.close();
  });

  /** Gives the column another type. */
  const retype = (type: 'number' | 'text'): Promise<void> => {
    const names = {
      POSTGRES: { number: 'bigint USING lost::bigint', text: 'text USING lost::text' },
      MYSQL: { number: 'bigint', text: 'varchar(190)' },
      CLICKHOUSE: { number: 'Nullable(Int64)', text: 'Nullable(String)' },
    };
    const name = names[kind as keyof typeof names][type];
    const change = { POSTGRES: 'ALTER COLUMN lost TYPE', MYSQL: 'MODIFY lost', CLICKHOUSE: 'MODIFY COLUMN lost' };
    return run(`ALTER TABLE t ${change[kind as keyof typeof change]} ${name}`);
  };
  const numbers = datamart({ tenancy: null, tables: [table('t', { ...columns, lost: 'BIGINT' })] });

  it('a column that gets another type is answered by its new type, without a call of anybody', async () => {
    await openTable();
    await run(kind === 'CLICKHOUSE' ? "ALTER TABLE t UPDATE lost = '7' WHERE 1" : "UPDATE t SET lost = '7'");
    await retype('number');
    // The catalog has the number from now on.
    await engine.introspect(place.datasource);
    const answer = () => engine.query(question(place, mart, 'None', of('lost')));
    const before = await answer();
    expect([before.rows, before.columns]).toMatchObject([[{ d: 7 }], [{ dataType: 'number' }]]);
    await retype('text');
    now += 600_000;
    const after = await answer();
    expect([after.rows, after.columns]).toMatchObject([[{ d: '7' }], [{ dataType: 'string' }]]);
    await engine.close();
  });

  it('what the old type refused is answered once the column has the type for it', async () => {
    await openTable();
    await run(kind === 'CLICKHOUSE' ? "ALTER TABLE t UPDATE lost = '7' WHERE 1" : "UPDATE t SET lost = '7'");
    const sum = metric('t', { measures: [{ name: 'm', aggregate: 'SUM', column: columnRef('t.lost') }] });
    const above = [condition('t.lost', { kind: 'compare', operator: '>', value: 5 })];
    const summed = () => engine.query(question(place, numbers, 'None', sum, { conditions: above }));
    await expect(summed()).rejects.toThrow('needs numbers');
    await retype('number');
    await expect(summed()).rejects.toThrow('needs numbers');
    now += 600_000;
    expect(Number((await summed()).rows[0]?.m)).toBe(7);
    await engine.close();
  });

  it.runIf(kind === 'POSTGRES')('a column that the user may not read breaks its own metric alone', async () => {
    await openTable();
    const role = `gl_reader_${randomUUID().slice(0, 8)}`;
    try {
      await run(
        `CREATE ROLE ${role} LOGIN`,
        `GRANT USAGE ON SCHEMA main TO ${role}`,
        `GRANT SELECT ON main.t TO ${role}`,
      );
      const reader = { ...place, datasource: { ...place.datasource, username: role } } as Place;
      await expect(valuesOf('lost', reader)).resolves.toEqual(['b']);
      now += 2000;
      await run(`REVOKE SELECT ON main.t FROM ${role}`, `GRANT SELECT (id, kept) ON main.t TO ${role}`);
      await expect(valuesOf('kept', reader)).resolves.toEqual(['a']);
      expect((await refusalOf(() => valuesOf('lost', reader))).reason).toBe('column-not-in-datasource');
    } finally {
      await engine.close();
      await run(`DROP OWNED BY ${role}`);
      await onServer((client) => client.query(`DROP ROLE ${role}`));
    }
  });
});
