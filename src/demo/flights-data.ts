import { access, mkdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { handled } from '../model/handled.js';
import type { Engine, Reads } from '../model/query/engine.js';

/** The folder of the demo's flight data. Throws if the development dependency is not installed. */
const flightsSource = (): string =>
  join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '..', 'data');

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const statements = (source: string): readonly string[] => [
  // Sorted by the client column: a tenant's query then takes a fifth of the time that it takes on unsorted rows.
  `CREATE TABLE flights AS SELECT date, delay, distance, origin, destination FROM read_parquet(${quote(join(source, 'flights-3m.parquet'))}) ORDER BY origin, date`,
  `CREATE TABLE airports AS SELECT * FROM read_csv(${quote(join(source, 'airports.csv'))})`,
  'CREATE TABLE tenants AS SELECT iata, name FROM airports WHERE iata IN (SELECT DISTINCT origin FROM flights) ORDER BY iata',
  'CHECKPOINT',
];

/**
 * Creates the demo's database at `path` if it is missing. A failed creation leaves no file.
 *
 * @internal Tests only: they load the data once for all of them.
 */
export const ensureFlightsData = async (path: string, source: string = flightsSource()): Promise<void> => {
  if (await exists(path)) return;
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.${process.pid}.part`;
  await rm(unfinished, { force: true });
  const instance = await DuckDBInstance.create(unfinished);
  try {
    const connection = await instance.connect();
    for (const statement of statements(source)) await connection.run(statement);
    connection.closeSync();
  } finally {
    instance.closeSync();
  }
  await rename(unfinished, path);
};

/**
 * Wraps the engine of the demo: its questions wait until the data is ready, so that the start need not wait. `prepare`
 * creates the data on its first call, for all callers; if that fails, the next call tries again.
 */
export const prepareFlightsData = (
  engine: Engine,
  path: string,
): { readonly engine: Engine; readonly prepare: () => Promise<void> } => {
  let preparing: Promise<void> | undefined;
  const prepare = (): Promise<void> => {
    preparing ??= handled(
      ensureFlightsData(path).catch((error: unknown) => {
        preparing = undefined;
        throw error;
      }),
    );
    return preparing;
  };
  const afterwards =
    <Question extends readonly unknown[], Answer>(ask: (...question: Question) => Promise<Answer>) =>
    async (...question: Question): Promise<Answer> => {
      await prepare();
      return ask(...question);
    };
  const reads = ({ query, underlying, options, stream }: Reads): Reads => ({
    query: afterwards(query),
    underlying: afterwards(underlying),
    options: afterwards(options),
    stream: afterwards(stream),
  });
  return {
    prepare,
    engine: {
      ...reads(engine),
      until: (signal) => reads(engine.until(signal)),
      check: afterwards(engine.check),
      statement: afterwards(engine.statement),
      asSql: afterwards(engine.asSql),
      countRepeats: afterwards(engine.countRepeats),
      tenantNames: afterwards(engine.tenantNames),
      introspect: afterwards(engine.introspect),
      listClientDatabases: afterwards(engine.listClientDatabases),
      readRights: afterwards(engine.readRights),
      forget: engine.forget,
      forgetClient: engine.forgetClient,
      rollups: engine.rollups,
      eraseFromRollups: engine.eraseFromRollups,
      close: async () => {
        // Wait for a running preparation, so that closing does not leave a half-written file.
        await Promise.allSettled([preparing]);
        await engine.close();
      },
    },
  };
};
