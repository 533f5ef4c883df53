// What a team writes by hand: the usual middleware, a JWT, a body schema, a token kept in Redis. It has one dashboard, no policy,
// no revocation and no audit; only its speed is compared.
import express from 'express';
import helmet from 'helmet';
import { Redis } from 'ioredis';
import jwt from 'jsonwebtoken';
import { pinoHttp } from 'pino-http';
import { z } from 'zod';

const { PORT, TEAM_REDIS_URL, TEAM_SERVICE_URL, TEAM_API_KEY, TEAM_JWT_SECRET } = process.env;
const redis = new Redis(TEAM_REDIS_URL);
const body = z.object({ timezone: z.string().optional() });

const mint = async (clientId) => {
  const response = await fetch(`${TEAM_SERVICE_URL}/api/v2/guest-token/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEAM_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ clientId, dataAppName: 'flights', expiryTime: 3_600_000 }),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()).token;
};

const app = express();
app.get('/readyz', (_request, response) => response.send('ready'));
app.use(helmet());
app.use(pinoHttp());
app.use(express.json());
app.post('/embed-token', async (request, response) => {
  const claims = jwt.verify(request.headers.authorization?.slice('Bearer '.length) ?? '', TEAM_JWT_SECRET);
  body.parse(request.body ?? {});
  const key = `team:${claims.org_id}:${claims.sub}`;
  let token = await redis.get(key);
  if (token === null) {
    token = await mint(claims.org_id);
    await redis.set(key, token, 'EX', 3000);
  }
  response.json({ token });
});
const server = app.listen(Number(PORT), '127.0.0.1');
process.on('SIGTERM', () => server.close(() => process.exit(0)));
