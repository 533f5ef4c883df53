// An Express app with a login of its own, and the gateway mounted behind that session.
import { randomBytes } from 'node:crypto';
import { createGateway } from '@guestlist/gateway';
import express from 'express';
import session from 'express-session';
import { startGuestlist } from '../guestlist.mjs';

const users = {
  ann: { id: 'ann', airport: 'LAX', roles: ['analyst'] },
  ben: { id: 'ben', airport: 'ATL', roles: ['analyst'] },
  eve: { id: 'eve', airport: 'LAX', roles: [] },
};

// In your product, Guestlist runs elsewhere: GUESTLIST_URL and GUESTLIST_API_KEY say where.
const { url, apiKey } = await startGuestlist();
const app = express();
app.use(
  session({
    secret: randomBytes(32).toString('hex'),
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: 'lax' },
  }),
);
app.use(
  '/analytics',
  await createGateway({
    identify: ({ session: { user } }) =>
      user === undefined ? null : { sub: user.id, org_id: user.airport, roles: user.roles },
    policies: new URL('policy.yaml', import.meta.url).pathname,
    service: { url, apiKey },
    databaseUrl: process.env.DATABASE_URL,
  }),
);
app.post('/login', express.urlencoded({ extended: false }), (request, response) => {
  const user = Object.hasOwn(users, request.body.user) ? users[request.body.user] : undefined;
  if (user === undefined) return response.status(403).send('unknown user');
  request.session.regenerate(() => {
    request.session.user = user;
    response.redirect(303, '/');
  });
});
app.get('/', (_request, response) => response.sendFile(new URL('index.html', import.meta.url).pathname));
const server = app.listen(Number(process.env.HOST_PORT ?? 8080), '127.0.0.1', () => {
  console.log(`The example is at http://127.0.0.1:${server.address().port}`);
});
process.once('SIGTERM', () => server.close());
