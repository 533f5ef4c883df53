/**
 * Who may see what is no business of guests and strangers: metrics, the reference of the interface, and what failed of readiness. The
 * first answer of each is the same for every path, so that nobody learns which of them there is.
 */
import type { Request, RequestHandler } from 'express';
import { notFound } from './envelope.js';

type Bearer = string | undefined;

export type Doors = {
  /** What others get: the answer, 401, or 404 where the paths are served on the management port. */
  readonly strangers: 'answered' | 'refused' | 'not-found';
  /** Whether the bearer is a token for operating this process. */
  readonly isOperator: (bearer: Bearer) => boolean;
  /** Whether the bearer may call the interface, and so read what it is. */
  readonly isIntegrator: (bearer: Bearer) => Promise<boolean>;
};

/** Of the demo, and of the management port, which the network protects. */
export const openDoors: Doors = {
  strangers: 'answered',
  isOperator: () => true,
  isIntegrator: async () => true,
};

const bearerOf = ({ headers }: Request): Bearer => /^bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1];

/** Whether this caller may see details that strangers may not. */
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

/** Lets through operators, and for the reference (`interface`) whoever may call the interface. */
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
