import express from 'express';
import session from 'express-session';
import { Webhook } from 'standardwebhooks';

const { SESSION_SECRET = '', ANALYTICS_SESSION_SECRET = '' } = process.env;
export const app = express();
app.use(session({ name: 'app_session', secret: SESSION_SECRET, resave: false, saveUninitialized: false }));

// The gateway asks this with the cookie of the user: 200 with claims, or 401.
app.get('/analytics-session', ({ headers, session: { user } }, response) => {
  try {
    new Webhook(ANALYTICS_SESSION_SECRET).verify('{}', headers);
  } catch {
    return response.sendStatus(403); // not asked by the gateway
  }
  if (user === undefined) return response.sendStatus(401);
  return response.json({ sub: user.id, org_id: user.company, roles: user.roles, auth_time: user.loggedInAt });
});
