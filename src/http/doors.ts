/**
 * Decides who may read metrics, the API reference and the details of readiness. A caller without access gets the same
 * answer for every such path, so the answer does not reveal which paths exist.
 */
import type { Request, RequestHandler } from 'express';
import { notFound } from './envelope.js';

type Bearer = string | undefined;

export type Doors = {
  /**
   * What callers without a credential get: the page, 401, or 404 if the paths are served only on the management port.
   */
  readonly strangers: 'answered' | 'refused' | 'not-found';
  /** Whether the bearer token is an operator's. */
  readonly isOperator: (bearer: Bearer) => boolean;
  /** Whether the bearer token may call the interface, and may therefore read its reference. */
  readonly isIntegrator: (bearer: Bearer) => Promise<boolean>;
};

/** For the demo, and for the management port, which the network must protect. */
export const openDoors: Doors = {
  strangers: 'answered',
  isOperator: () => true,
  isIntegrator: async () => true,
};

const bearerOf = ({ headers }: Request): Bearer => /^bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1];

/** Whether this caller may see the details. */
export const seesDetails = (doors: Doors, request: Request): boolean =>
  doors.strangers === 'answered' || doors.isOperator(bearerOf(request));

const refused = {
  error: {
    code: 'AUTHENTICATION_ERROR',
    message:
      'Send GUESTLIST_METRICS_TOKEN or the gateway token as "Authorization: Bearer <token>". management.port serves this path on a port of its own.',
    status: 401,
  },
};

/** Admits operators; for the reference (`interface`), also every caller that may use the interface. */
export const guardDoor =
  (doors: Doors, what: 'operations' | 'interface'): RequestHandler =>
  async (request, response, next) => {
    const { strangers, isOperator, isIntegrator } = doors;
    const bearer = bearerOf(request);
    const isElsewhere = strangers === 'not-found';
    if (strangers === 'answered' || (!isElsewhere && isOperator(bearer))) return next();
    if (what === 'interface' && (await isIntegrator(bearer))) return next();
    response.set('Cache-Control', 'no-store');
    if (isElsewhere) response.status(404).json(notFound(request.method, request.path));
    else response.status(401).set('WWW-Authenticate', 'Bearer').json(refused);
  };
