/** Builds the service: the dispatch of every operation over its store. */
import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { bound } from './contract/operations.js';
import { keyHintOf } from './domain/organization.js';
import type { Clock, Digest, Engine, Ids, Store, Tokens } from './domain/ports.js';
import { createSqlRewriter } from './engine/custom/sql-rewriter.js';
import { createHandlers } from './handlers.js';
import type { AdmissionLimits, Authenticate } from './http/admission.js';
import { createDispatch, type Dispatch } from './http/bind.js';
import type { Credentials } from './platform/credentials.js';
import type { Database } from './platform/database.js';
import type { Check } from './platform/readiness.js';
import { createSealer } from './platform/sealing.js';
import { assertMetadataWritable, migrate } from './store/migrations.js';
import { createStore } from './store/store.js';
import type { Tables } from './store/tables.js';
import { startUpkeep } from './upkeep.js';
import { createAuthenticate } from './usecases/authenticate.js';
import { createLastUses } from './usecases/last-use.js';

const digest: Digest = (text) => hash('sha256', text, 'hex');

export type Service = {
  readonly dispatch: Dispatch;
  readonly store: Store;
  readonly checks: readonly Check[];
  readonly authenticate: Authenticate;
  readonly close: () => Promise<void>;
};

/** The service token that this installation starts with; one that was revoked or rotated stays so. */
const seedServiceToken = async (store: Store, { credentials, clock, ids, tokens }: ServiceParts): Promise<void> => {
  const { serviceToken } = credentials;
  const hashed = tokens.hash(serviceToken);
  if (await store.serviceTokens.isKnown(hashed)) return;
  const id = ids.uuid();
  await store.serviceTokens.insert({
    id,
    name: `first ${id.slice(0, 8)}`,
    hash: hashed,
    keyHint: keyHintOf(serviceToken),
    createdAt: clock.now(),
    expiresAt: null,
  });
};

export type ServiceParts = {
  readonly credentials: Credentials;
  readonly engine: Engine;
  readonly database: Database;
  readonly limits: AdmissionLimits;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tokens: Tokens;
  readonly log: Logger;
};

export const composeService = async (parts: ServiceParts): Promise<Service> => {
  const { credentials, engine, database, limits, clock, ids, tokens, log } = parts;
  const sealer = createSealer(Buffer.from(credentials.encryptionKey, 'base64'));
  const db = database.connect<Tables>();
  await migrate(db);
  const store = createStore(db, sealer, database.writes);
  await seedServiceToken(store, parts);
  const lastUses = createLastUses({ store, clock, log });
  const upkeep = startUpkeep({ store, clock, lastUses, log });
  const authenticate = createAuthenticate({ store, clock, tokens, lastUses });
  return {
    store,
    authenticate,
    dispatch: createDispatch({
      operations: bound,
      handlers: createHandlers({ store, engine, clock, ids, tokens, sqlRewriter: createSqlRewriter(), digest }),
      ...{ authenticate, limits, log },
    }),
    checks: [{ name: 'metadata', run: () => assertMetadataWritable(db) }],
    close: async () => {
      await engine.close();
      await upkeep.end();
    },
  };
};
