/**
 * Decides who may read the meters, the API reference and the details of readiness. A caller without access gets the same
 * answer for every such path, so the answer does not reveal which paths exist.
 */
import type { IncomingMessage } from 'node:http';
import { bearerOf } from './admission.js';
import { envelope, notFound } from './envelope.js';
import { sendError } from './error-page.js';
import type { Step } from './in-turn.js';
import { pathOf } from './request.js';

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

/** Whether this caller may see the details. */
export const seesDetails = (doors: Doors, request: IncomingMessage): boolean =>
  doors.strangers === 'answered' || doors.isOperator(bearerOf(request.headers.authorization));

const refused = envelope(
  'AUTHENTICATION_ERROR',
  'Send GUESTLIST_METRICS_TOKEN or the gateway token as "Authorization: Bearer <token>". management.port serves this path on a port of its own.',
  401,
);

/** Admits operators; for the reference (`interface`), also every caller that may use the interface. */
export const guardDoor =
  (doors: Doors, what: 'operations' | 'interface'): Step =>
  async (request, response, next) => {
    const { strangers, isOperator, isIntegrator } = doors;
    const bearer = bearerOf(request.headers.authorization);
    const isElsewhere = strangers === 'not-found';
    if (strangers === 'answered' || (!isElsewhere && isOperator(bearer))) return next();
    if (what === 'interface' && (await isIntegrator(bearer))) return next();
    if (!isElsewhere) return sendError(response, refused, ['WWW-Authenticate', 'Bearer']);
    return sendError(response, notFound(request.method ?? 'GET', pathOf(request)));
  };
