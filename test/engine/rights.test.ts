/** What the user of a datasource may do beyond reading, on each kind of database. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBuilder, findKinds } from './test-databases.js';
import { createLoggedEngine } from './world.js';

/** The users of the test servers own everything, and a file has no users. */
const expected = {
  DUCKDB: [],
  SQLITE: [],
  POSTGRES: ['superuser', 'write', 'create'],
  MYSQL: ['superuser', 'write', 'create', 'administer'],
  CLICKHOUSE: ['write', 'create', 'administer'],
} as const;

describe.each(await findKinds())('the rights of the user of %s', (kind) => {
  it('are read with the version of the server', { timeout: 60_000 }, async () => {
    const builder = await createBuilder(kind);
    onTestFinished(builder.remove);
    const { datasource: source } = await builder.build('rights', [
      { name: 'orders', columns: { id: 'INTEGER' }, rows: [[1]] },
    ]);
    const { engine } = createLoggedEngine();
    onTestFinished(engine.close);
    const { version, excess } = await engine.readRights(source);
    expect(version).toMatch(/^v?\d+\.\d+/);
    expect(excess).toEqual(expected[kind]);
  });
});
