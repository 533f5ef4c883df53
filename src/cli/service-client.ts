/** Calls operations of a running service with the operator's credential: the service token, or the API key of a data app. */
import { readOperatorSettings } from '../main.js';
import { type Call, createClient, type Transport, UpstreamRefusal } from '../platform/http/interface/client.js';
import { createHttpTransport } from './kit/transport.js';
import { addressOf, OperatorError, storedToken } from './operator.js';

/** The credentials of the command line, as the contract names them. */
export type OperatorCredential = 'serviceToken' | 'apiKey';

const createTransport = (base: string): Transport => {
  const send = createHttpTransport(base);
  return async (request) => {
    try {
      return await send(request);
    } catch (cause) {
      throw new OperatorError(`No service answers at ${base}. Start it, or name another by --url.`, { cause });
    }
  };
};

const readBearer = async (credential: OperatorCredential): Promise<string> => {
  const { apiKey, serviceToken, dataDir } = readOperatorSettings();
  if (credential === 'serviceToken') return serviceToken ?? storedToken(dataDir, 'service');
  if (apiKey !== null) return apiKey;
  throw new OperatorError(
    'There is no API key: set GUESTLIST_API_KEY to a key of the data app. "guestlist keys create DATA_APP NAME" creates one.',
  );
};

/**
 * Returns a client of the service at `url`; left out: where the configuration says that it listens. Its calls throw
 * OperatorError.
 */
export const connectToService = async (credential: OperatorCredential, url: string | undefined): Promise<Call> => {
  const base = addressOf('service', url);
  const call = createClient(createTransport(base), await readBearer(credential));
  return async (operation, input, signal) => {
    try {
      return await call(operation, input, signal);
    } catch (cause) {
      if (!(cause instanceof UpstreamRefusal)) throw cause;
      const { code, status, message } = cause;
      const words =
        code === 'UNKNOWN' ? `What answers at ${base} (status ${status}) is no service.` : `${code}: ${message}`;
      throw new OperatorError(words, { cause });
    }
  };
};
