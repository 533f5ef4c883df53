// For token-steps.mjs: sends a fixed answer with node:http alone, or behind Express's Router.
import { createServer } from 'node:http';
import express from 'express';
import { securityHeaders } from '../../dist/gateway/http/headers.js';

const body = JSON.stringify({
  token: '6f0a2f5e-0a3c-4a8e-8f0e-6a1d2b3c4d5e',
  expiresAt: new Date(),
  refreshAfter: new Date(),
  embeds: [{ id: 'delays--LAX', name: 'Delays', type: 'dashboard' }],
  serviceUrl: 'http://127.0.0.1:3000',
});
const constant = [...securityHeaders(), 'Cache-Control', 'no-store', 'Content-Type', 'application/json; charset=utf-8'];
const answer = (_request, response) => {
  const own = [
    'Content-Length',
    String(Buffer.byteLength(body)),
    'X-Request-Id',
    '6f0a2f5e-0a3c-4a8e-8f0e-6a1d2b3c4d5e',
  ];
  response.writeHead(200, [...constant, ...own]);
  response.end(body);
};
const router = express.Router();
router.all('/embed-token', answer);
router.all('/readyz', answer);
const handle = process.env.BARE_KIND === 'router' ? (request, response) => router(request, response, () => {}) : answer;
const server = createServer(handle).listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => process.exit(0));
});
