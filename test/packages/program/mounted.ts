// A host's program with the types of Express, 4 or 5. It must compile under all strict checks.
import express, { type Request } from 'express';
import { createGateway, type LibraryOptions } from 'guestlist';

declare global {
  namespace Express {
    interface Request {
      session?: { readonly user: string };
    }
  }
}

const rest = {
  policies: './policies.yaml',
  service: { url: 'https://analytics.example.com', apiKey: 'key' },
} satisfies Omit<LibraryOptions, 'identify'>;

/** Identifies by what middleware adds, and by a field of Express itself. */
export const mount = async (): Promise<void> => {
  const bySession = await createGateway({
    ...rest,
    identify: ({ session }) => (session === undefined ? null : { sub: session.user }),
  });
  const byAddress = await createGateway({
    ...rest,
    identify: ({ ip }: Request) => (ip === '127.0.0.1' ? { sub: 'ann' } : null),
  });
  const app = express();
  app.use('/analytics', bySession);
  app.use(byAddress);
  express.Router().use('/gateway/admin', bySession.admin);
};
