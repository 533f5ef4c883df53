// A host's program without Express. It must compile under all strict checks with what `npm install guestlist` brings, and
// without any @types.
import { createGateway, type HostClaims, type Identify, InvalidOptions, type LibraryOptions } from 'guestlist';

const identify: Identify = ({ headers: { cookie, 'x-user': user } }): HostClaims | null =>
  cookie === undefined && user === 'ann' ? { sub: 'ann', org_id: 'LAX' } : null;
const options: LibraryOptions = {
  identify,
  policies: './policies.yaml',
  service: { url: 'https://analytics.example.com', apiKey: 'key' },
};
const response = { statusCode: 200, setHeader: () => {}, end: () => {} };

/** Calls the gateway as a server of Node does. */
export const answer = async (): Promise<void> => {
  try {
    const gateway = await createGateway(options);
    gateway({ method: 'POST', url: '/embed-token', headers: {} }, response, () => {});
    await gateway.assertReady();
    await gateway.close();
    // @ts-expect-error: the policies are required
    await createGateway({ identify, service: options.service });
  } catch (error) {
    if (!(error instanceof InvalidOptions)) throw error;
    throw new Error(error.faults.join('\n'));
  }
};
