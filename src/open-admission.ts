/** The limits of the service's callers, and the addresses that they are counted by. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from './domain/ports.js';
import { type AddressOf, createAddresses } from './http/address.js';
import type { AdmissionLimits } from './http/admission.js';
import { createBudget } from './platform/budget.js';
import type { Config } from './platform/config.js';
import { type CredentialKind, createCredentialGuard, type NoteFailures } from './platform/credential-guard.js';
import type { Limiters } from './platform/limiter.js';
import type { Log } from './platform/log.js';
import { createRefusedBodies } from './platform/refused-bodies.js';

export type Admissions = {
  readonly addressOf: AddressOf;
  readonly limits: AdmissionLimits;
  /** For other guards of the process. */
  readonly note: NoteFailures;
};

type AdmissionOptions = {
  readonly config: Config;
  readonly limiters: Limiters;
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: Registry;
};

/** Neither a credential nor a part of one is in the log or in a label. */
const createNote = (registry: Registry, log: Log): NoteFailures => {
  const counter = (name: string, help: string) =>
    new Counter({ name: `guestlist_${name}_total`, help, labelNames: ['kind'], registers: [registry] });
  const failed = counter('failed_credentials', 'Credentials that were wrong, by their kind.');
  const limited = counter('limited_credentials', 'Credentials that were refused for earlier failures, by their kind.');
  return {
    failed: (kind) => failed.inc({ kind }),
    limited: (kind) => limited.inc({ kind }),
    blocked: (kind, address) =>
      log.warn(
        { event: 'too-many-failures', kind, address },
        'too many wrong credentials of one address: they get 429',
      ),
  };
};

/** One for each process. */
export const openAdmission = ({ config, limiters, clock, log, registry }: AdmissionOptions): Admissions => {
  const { limits: settings, gateway } = config.settings;
  const proxies = new Gauge({
    name: 'guestlist_proxy_not_trusted',
    help: '1 where X-Forwarded-For arrives and gateway.limits.trustedProxies is 0: everybody behind the proxy is one address.',
    registers: [registry],
  });
  const { trustedProxies } = gateway.limits;
  const addressOf = createAddresses({ trustedProxies, log, note: () => proxies.set(1) });
  const note = createNote(registry, log);
  const shared = { limiters, scope: 'service', clock };
  const guardOf = (kind: CredentialKind) =>
    createCredentialGuard({ ...shared, kind, failuresPerMinute: settings.failedCredentialsPerMinute, note });
  const budgetOf = (name: string, what: string, perMinute: number | null) =>
    createBudget(shared, { name, what, perMinute });
  return {
    addressOf,
    note,
    limits: {
      guards: { apiKey: guardOf('apiKey'), guestToken: guardOf('guestToken'), serviceToken: guardOf('serviceToken') },
      guestToken: budgetOf('guest-token', 'requests with this guest token', settings.guestTokenPerMinute),
      guestAddress: budgetOf(
        'guest-address',
        'requests with this guest token from one address',
        settings.guestAddressPerMinute,
      ),
      refusedBodies: createRefusedBodies(settings.refusedMegabytesPerMinute, clock),
    },
  };
};
