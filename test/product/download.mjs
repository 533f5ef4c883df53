// Downloads a metric with many rows from the built engine over a socket, and prints what arrived and how much this
// process's memory grew. node test/product/download.mjs '<datasource as JSON>' <schema>
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createEngine } from '../../dist/engine/engine.js';
import { toCsv } from '../../dist/service/guest/contract/csv.js';

const [, , datasource, schemaName] = process.argv;
const ref = (columnName) => ({ schemaName, tableName: 'many', columnName });
const columns = ['id', 'text', 'price', 'at'];
const made = new Date(0);
const question = {
  dataAppId: 'app',
  epoch: 0,
  datasource: JSON.parse(datasource),
  datamart: {
    id: 'm',
    name: 'many',
    datasourceId: 'd1',
    tenancy: null,
    tables: [
      {
        ...ref(''),
        label: '',
        clientColumn: null,
        isHide: false,
        columns: columns.map((columnName) => ({
          columnName,
          datatype: '',
          alias: columnName,
          label: '',
          isHide: false,
          isApplyTimezone: false,
        })),
      },
    ],
    relationships: [],
    sharedTables: [],
    createdAt: made,
    updatedAt: made,
  },
  tenant: { kind: 'untenanted' },
  definition: {
    kind: 'visual',
    chart: { type: 'table' },
    from: ref(''),
    dimensions: columns.map((name) => ({ name, column: ref(name) })),
    measures: [],
    filters: [],
    rlsVariables: [],
    underlying: [],
    drillPath: [],
    sort: [],
    limit: null,
  },
  conditions: [],
  timezone: null,
  sort: null,
  limit: null,
  offset: 0,
};

const log = { warn: console.error, error: console.error };
const engine = createEngine({ log, clock: { now: () => new Date() }, assertReachable: async () => {} });
// Loads all modules and the catalog, so that they are not measured.
await engine.query({ ...question, limit: 1 });

const server = createServer(async (_, response) => {
  const { columns: found, batches } = await engine.stream(question);
  const labelled = found.map((column) => ({ ...column, label: column.name }));
  const rows = toCsv({ columns: labelled, batches, limit: null, offset: 0 });
  await pipeline(Readable.from(rows, { objectMode: false }), response);
}).listen(0, '127.0.0.1');
await once(server, 'listening');

globalThis.gc?.();
const before = process.memoryUsage().rss;
let peak = before;
const sampler = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss);
}, 10);
const start = performance.now();
const [answer] = await once(get(`http://127.0.0.1:${server.address().port}/`), 'response');
let [lines, bytes] = [0, 0];
for await (const chunk of answer) {
  bytes += chunk.length;
  for (const byte of chunk) if (byte === 10) lines += 1;
}
clearInterval(sampler);
server.close();
await engine.close();
const mebibytes = (count) => Math.round(count / 1_048_576);
console.log(
  JSON.stringify({
    rows: lines - 1,
    megabytes: mebibytes(bytes),
    grownMegabytes: mebibytes(peak - before),
    seconds: Math.round((performance.now() - start) / 100) / 10,
  }),
);
