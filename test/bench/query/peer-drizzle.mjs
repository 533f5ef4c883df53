// drizzle-cube over the bench's PostgreSQL: the bearer token names the tenant, and each query is filtered by it.
// PEER_CACHE=1 enables its cache.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.PEER_FOLDER, 'package.json'));
const express = require('express');
const { Pool } = require('pg');
const { drizzle } = require('drizzle-orm/node-postgres');
const { pgTable, text, integer, timestamp } = require('drizzle-orm/pg-core');
const { eq } = require('drizzle-orm');
const { defineCube, MemoryCacheProvider } = require('drizzle-cube/server');
const { createCubeRouter } = require('drizzle-cube/adapters/express');

const flights = pgTable('flights', {
  date: timestamp('date'),
  delay: integer('delay'),
  origin: text('origin'),
  destination: text('destination'),
});

const cube = defineCube('Flights', {
  sql: ({ securityContext }) => ({ from: flights, where: eq(flights.origin, securityContext.tenant) }),
  measures: {
    delay: { name: 'delay', type: 'sum', sql: flights.delay },
    count: { name: 'count', type: 'count', sql: flights.destination },
  },
  dimensions: { destination: { name: 'destination', type: 'string', sql: flights.destination } },
});

const db = drizzle(new Pool({ connectionString: process.env.PEER_DATABASE_URL, max: 8 }), { schema: { flights } });
const app = express();
app.use(
  createCubeRouter({
    cubes: [cube],
    drizzle: db,
    schema: { flights },
    engineType: 'postgres',
    extractSecurityContext: async (request) => ({ tenant: request.headers.authorization.replace('Bearer ', '') }),
    ...(process.env.PEER_CACHE === '1'
      ? { cache: { provider: new MemoryCacheProvider(), defaultTtlMs: 600_000 } }
      : {}),
  }),
);
app.get('/readyz', (_request, response) => response.send('ok'));
createServer(app).listen(Number(process.env.PORT), '127.0.0.1');
