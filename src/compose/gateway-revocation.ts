/** Builds what revokes, and what knows of it. */
import type { Call } from '../contract/client.js';
import { createEpochs } from '../gateway/revocation/epochs.js';
import { createRevocations } from '../gateway/revocation/revocations.js';
import { createScopes } from '../gateway/revocation/scopes.js';
import { createServiceTokens } from '../gateway/revocation/service-tokens.js';
import type { Capabilities } from '../gateway/upstream/capabilities.js';
import { repeat } from '../platform/repeat.js';
import { createLocalSharing } from '../platform/sharing.js';
import { systemTiming } from '../platform/timing.js';
import type { GatewayParts } from './create-gateway.js';

const retryEveryMs = 2_000;

/** What was revoked, and what revokes. */
export const createRevocationParts = (options: GatewayParts, upstream: Call, capabilities: Capabilities) => {
  const { ledger, log, cache } = options;
  const sharing = cache.sharing ?? createLocalSharing(cache);
  const scopes = createScopes(ledger);
  const epochs = createEpochs({ ledger, sharing, log });
  options.metrics?.watch('epochsAgeMs', epochs.ageMs);
  const tokens = createServiceTokens({ upstream, requireCapability: capabilities.requireCapability, log });
  const revocations = createRevocations({ ...options, epochs, scopes, tokens });
  const stopRetrying = repeat(systemTiming, retryEveryMs, () =>
    revocations.retry().then(
      () => {},
      (err: unknown) => log.warn({ err }, 'pending revocations could not be tried again'),
    ),
  );
  const close = async (): Promise<void> => {
    stopRetrying();
    epochs.close();
  };
  return { sharing, scopes, epochs, discard: tokens.discard, revocations, close };
};

export type RevocationParts = ReturnType<typeof createRevocationParts>;
