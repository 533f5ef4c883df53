/** A datasource's server that restarts: no error is left unheard, queries are answered again, and meanwhile it is said what is so. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Datasource, ServerConnection } from '../../src/domain/organization.js';
import type { Engine } from '../../src/domain/ports.js';
import { findUnavailable } from '../../src/domain/unavailable.js';
import { type Builder, createBuilder, findKinds } from './places.js';
import { type Relay, startRelay } from './relay.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

type ServerKind = Exclude<Awaited<ReturnType<typeof findKinds>>[number], 'DUCKDB'>;
const kinds = (await findKinds()).filter((kind): kind is ServerKind => kind !== 'DUCKDB');

const mart = datamart({ tenancy: null, tables: [table('notes', { text: 'VARCHAR' })] });
const texts = metric('notes', { dimensions: [{ name: 'text', column: columnRef('notes.text') }] });

describe.each(kinds)('%s', (kind) => {
  let builder: Builder;
  let place: Place;
  let relay: Relay;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('lost', [{ name: 'notes', columns: { text: 'VARCHAR' }, rows: [['first']] }]);
    const source = place.datasource as Datasource & ServerConnection;
    relay = await startRelay(source);
    place = { ...place, datasource: { ...source, host: relay.host, port: relay.port } as Datasource };
    ({ engine } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine?.close();
    await relay?.close();
    await builder?.remove();
  });

  const ask = () => engine.query(question(place, mart, 'None', texts));
  const rows = async () => (await ask()).rows;

  it('connections that break, idle or not, are replaced: a query that only reads is asked again', async () => {
    expect(await rows()).toEqual([{ text: 'first' }]);
    for (let round = 0; round < 3; round += 1) {
      const asked = Promise.all([rows(), rows(), rows()]);
      relay.cut();
      expect(await asked).toEqual([[{ text: 'first' }], [{ text: 'first' }], [{ text: 'first' }]]);
      relay.cut();
      expect(await rows()).toEqual([{ text: 'first' }]);
    }
  });

  it('while the server is away it is said so, as a fault that passes; then queries are answered at once', async () => {
    await rows();
    await relay.close();
    const refusal = await ask().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: 'Refusal', code: 'METRIC_QUERY_ERROR' });
    expect(findUnavailable(refusal)?.reason).toBe('datasource-lost');
    await relay.open();
    expect(await rows()).toEqual([{ text: 'first' }]);
  });
});
