/** Who may read metrics, the reference and what failed of readiness on the port that everybody reaches. */
import { Refusal } from './domain/refusal.js';
import type { Authenticate } from './http/admission.js';
import { type Doors, openDoors } from './http/doors.js';
import type { Config } from './platform/config.js';
import type { Credentials } from './platform/credentials.js';
import { hashToken, isSameHash } from './platform/keys.js';

const mayCall = async (authenticate: Authenticate, bearer: string | undefined): Promise<boolean> => {
  try {
    await authenticate(['apiKey', 'serviceToken'], bearer);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'AUTHENTICATION_ERROR') return false;
    throw error;
  }
};

/** `authenticate` is null where this process runs no service, and so has no reference. */
export const doorsOf = (
  { settings, secrets, isProduction }: Pick<Config, 'settings' | 'secrets' | 'isProduction'>,
  { gatewayToken }: Pick<Credentials, 'gatewayToken'>,
  authenticate: Authenticate | null,
): Doors => {
  const isElsewhere = settings.management.port !== null;
  if (!isElsewhere && !isProduction) return openDoors;
  const tokens = [secrets.metricsToken, gatewayToken].flatMap((token) => (token === null ? [] : [hashToken(token)]));
  return {
    strangers: isElsewhere ? 'not-found' : 'refused',
    isOperator: (bearer) => bearer !== undefined && tokens.some((hash) => isSameHash(hash, hashToken(bearer))),
    // A gateway elsewhere reads in the document what this service can do.
    isIntegrator: async (bearer) => bearer !== undefined && authenticate !== null && mayCall(authenticate, bearer),
  };
};
