/** The port that `init` writes into the configuration. */
import { once } from 'node:events';
import { createServer } from 'node:net';

export const usualPort = 3000;

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return true;
  } catch {
    // Whatever holds the port: the service could not listen there either.
    return false;
  } finally {
    server.close();
  }
};

/** The given port, or else the first free one from the usual port on. */
export const choosePort = async (given: number | undefined): Promise<number> => {
  if (given !== undefined) return given;
  for (let port = usualPort; port < usualPort + 20; port += 1) if (await isFree(port)) return port;
  return usualPort;
};
