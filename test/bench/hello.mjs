// The baseline of token.mjs: Express 5 without middleware.
import express from 'express';

const app = express().get('/readyz', (_request, response) => response.send('hello'));
app.get('/hello', (_request, response) => response.send('hello'));
const server = app.listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => server.close(() => process.exit(0)));
