// Runs the query with the raw driver as fast as possible. A separate process: gets `{connections, seconds}`, sends `{perSecond, ms}`.
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { customersByHand, linesByHand } from './lines.mjs';

const [kind, place, by, clientId] = process.argv.slice(2);
const where = (parameter) => (clientId === 'None' ? '' : ` WHERE origin = ${parameter}`);
const flights = `SELECT ${by}, sum(delay), count(*) FROM flights${where('$1')} GROUP BY 1 ORDER BY 1 LIMIT 10000`;
const { text, values } = { 'order lines': linesByHand, ...customersByHand }[by] ?? {
  text: flights,
  values: clientId === 'None' ? [] : [clientId],
};

const openDuckDb = async () => {
  const instance = await DuckDBInstance.create(place, { access_mode: 'READ_ONLY' });
  return async () => {
    const connection = await instance.connect();
    const statement = await connection.prepare(text);
    statement.bind(values);
    return async () => (await statement.runAndReadAll()).getRows();
  };
};

const openPostgres = async () => async () => {
  const client = new pg.Client({ connectionString: place });
  await client.connect();
  return async () => (await client.query({ text, values, rowMode: 'array' })).rows;
};

const open = await (kind === 'duckdb' ? openDuckDb() : openPostgres());
const asks = [];

const measure = async ({ connections, seconds }) => {
  while (asks.length < connections) asks.push(await open());
  const end = performance.now() + seconds * 1000;
  let count = 0;
  let spent = 0;
  const loop = async (ask) => {
    while (performance.now() < end) {
      const start = performance.now();
      await ask();
      spent += performance.now() - start;
      count += 1;
    }
  };
  const start = performance.now();
  await Promise.all(asks.slice(0, connections).map(loop));
  return { perSecond: (count * 1000) / (performance.now() - start), ms: spent / count };
};

process.on('message', async (order) => process.send(await measure(order)));
process.send('ready');
