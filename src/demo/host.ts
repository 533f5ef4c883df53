/**
 * The demo's host application. It logs a demo user in with a session from its own issuer. It never runs in production.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { type Response, Router } from 'express';
import jwt from 'jsonwebtoken';
import { z } from 'zod';
import type { Clock } from '../model/ports.js';
import { Refusal } from '../model/refusal.js';
import { bodyOf } from '../platform/http/wire/body-reader.js';
import { cookieOf } from '../platform/http/wire/request.js';
import { json, send } from '../platform/http/wire/sending.js';
import type { DemoUser } from './bundle.js';

export const demoIssuer = 'guestlist-demo';
const lifetimeInSeconds = 8 * 3600;

export type DemoHostOptions = {
  readonly users: readonly DemoUser[];
  readonly secret: KeyObject;
  readonly cookieName: string;
  readonly clock: Clock;
};

export const demoKey = (secret: string): KeyObject => createSecretKey(Buffer.from(secret, 'utf8'));

/**
 * Returns the session of a demo user as a host's login would create it: a JWT signed with HS256, valid for eight hours.
 */
const signDemoSession = ({ secret, clock }: Pick<DemoHostOptions, 'secret' | 'clock'>, user: DemoUser): string => {
  const issuedAt = Math.floor(clock.now().getTime() / 1000);
  const { id: sub, org_id, roles, region, zoneinfo } = user;
  const claims = {
    iss: demoIssuer,
    sub,
    org_id,
    roles,
    iat: issuedAt,
    exp: issuedAt + lifetimeInSeconds,
    ...(region === undefined ? {} : { region }),
    ...(zoneinfo === undefined ? {} : { zoneinfo }),
  };
  return jwt.sign(claims, secret, { algorithm: 'HS256' });
};

const view = ({ id, name, title, org_id, roles, region, description }: DemoUser) => ({
  id,
  name,
  title,
  airport: org_id,
  roles,
  region: region ?? null,
  description,
});

const readSession = (options: DemoHostOptions, token: string | null): jwt.JwtPayload | null => {
  if (token === null) return null;
  try {
    const claims = jwt.verify(token, options.secret, {
      algorithms: ['HS256'],
      issuer: demoIssuer,
      clockTimestamp: Math.floor(options.clock.now().getTime() / 1000),
    });
    return typeof claims === 'string' ? null : claims;
  } catch (error) {
    // With an expired or foreign cookie, nobody is logged in: the page then shows its login.
    if (error instanceof jwt.JsonWebTokenError) return null;
    throw error;
  }
};

/** `GET /demo/session`, `POST /demo/login`, `POST /demo/logout`. */
export const createDemoHost = (options: DemoHostOptions): Router => {
  const router = Router({ caseSensitive: true, strict: true });
  const { users, cookieName } = options;
  const cookie = (value: string, maxAge: number): string =>
    `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}`;

  const sessionOf = (token: string | null) => {
    const claims = readSession(options, token);
    const user = users.find(({ id }) => id === claims?.sub);
    return { users: users.map(view), current: user === undefined ? null : { ...view(user), claims } };
  };
  router.get('/demo/session', (request, response) =>
    send(response, { status: 200, headers: json, body: sessionOf(cookieOf(request.headers, cookieName)) }),
  );

  const answer = (response: Response, value: string, maxAge: number) =>
    send(response, { status: 200, headers: [...json, 'Set-Cookie', cookie(value, maxAge)], body: sessionOf(value) });
  router.post('/demo/login', async (request, response) => {
    const given = await bodyOf(request)({ maxBytes: 1024 });
    const body = z.strictObject({ user: z.string() }).safeParse(given);
    const user = users.find(({ id }) => id === body.data?.user);
    const known = users.map(({ id }) => id).join(', ');
    if (user === undefined) throw new Refusal('INVALID_REQUEST_BODY', `user: one of ${known}`);
    await answer(response, signDemoSession(options, user), lifetimeInSeconds);
  });
  router.post('/demo/logout', (_, response) => answer(response, '', 0));
  return router;
};
