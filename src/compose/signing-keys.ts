/** Reads which keys sign and check, from the configuration and from the key sets that were fetched. */
import type { KeySet, ReadSigningKeys, SigningKey } from '../model/signing-keys.js';
import type { Config } from '../platform/config/config.js';
import { secretVariablesOf } from '../platform/config/hook-providers.js';
import type { ArchiveKeys } from '../platform/keys/archive-keys.js';
import { keysFor, thumbprintOf } from '../platform/keys/jwt-keys.js';
import type { SessionIssuer } from './session-issuers.js';

type Parts = {
  readonly config: Pick<Config, 'settings' | 'secrets' | 'channels' | 'dkim' | 'askedIssuers' | 'hookProviders'>;
  readonly issuers: readonly SessionIssuer[];
  readonly startedAt: Date;
  /** Left out: nothing is archived. */
  readonly archiveKeys?: Pick<ArchiveKeys, 'id'> | undefined;
};

/** A key that fits none of the issuer's algorithms checks nothing, and is left out. */
const sessionKeys = ({ issuer, algorithms, source, read }: SessionIssuer): readonly SigningKey[] =>
  read().keys.flatMap((named) => {
    const fitting = algorithms.filter((algorithm) => keysFor([named], algorithm).length > 0);
    if (fitting.length === 0) return [];
    const { kid, key, seenAt } = named;
    const thumbprint = thumbprintOf(key);
    return [
      { purpose: 'sessions', of: issuer, kid, thumbprint, algorithms: fitting, use: 'checks', source, since: seenAt },
    ];
  });

const setsOf = ({ issuer, source, read }: SessionIssuer): readonly KeySet[] => {
  if (source.kind !== 'jwks' || issuer === null || source.name === null) return [];
  const { readAt, isFailing } = read();
  return [{ of: issuer, url: source.name, readAt, isFailing }];
};

/** The keys of a JWKS are those that the provider publishes, and are not listed. */
const providerKeys = ({ config, startedAt }: Parts): readonly SigningKey[] =>
  config.hookProviders.flatMap(({ name, setting }) =>
    secretVariablesOf(setting).map((variable) => ({
      ...{ purpose: 'hooks', of: name, algorithms: ['HMAC-SHA256'], use: 'checks', kid: null, thumbprint: null },
      ...{ since: startedAt, source: { kind: 'variable', name: variable } },
    })),
  );

/** It is derived from the encryption key. */
const archiveKey = ({ config, startedAt, archiveKeys }: Parts): readonly SigningKey[] =>
  archiveKeys === undefined
    ? []
    : [
        {
          ...{ purpose: 'archive', of: null, kid: null, thumbprint: archiveKeys.id, algorithms: ['Ed25519'] },
          ...{ use: 'signs', since: startedAt },
          source:
            config.secrets.encryptionKey === null
              ? { kind: 'file', name: 'credentials.json' }
              : { kind: 'variable', name: 'GUESTLIST_ENCRYPTION_KEY' },
        },
      ];

/** Keys beside those of sessions. None of them changes while the process runs. */
const otherKeys = ({ config, startedAt }: Parts): readonly SigningKey[] => {
  const { settings, secrets, channels, dkim, askedIssuers } = config;
  const nothingShown = { kid: null, thumbprint: null, since: startedAt };
  const variable = (name: string | null) => ({ kind: 'variable', name }) as const;
  return [
    ...askedIssuers.map(
      ({ issuer, ask }): SigningKey => ({
        ...{ purpose: 'sessions', of: issuer, algorithms: ['HMAC-SHA256'], use: 'signs' },
        ...{ ...nothingShown, source: variable(ask.secretVariable) },
      }),
    ),
    ...secrets.hookSecrets.map(
      (): SigningKey => ({
        ...{ purpose: 'hooks', of: null, algorithms: ['HMAC-SHA256'], use: 'checks' },
        ...{ ...nothingShown, source: variable('GUESTLIST_HOOK_SECRETS') },
      }),
    ),
    ...channels.flatMap(({ name, secrets: signing }) =>
      signing.map(
        (): SigningKey => ({
          ...{ purpose: 'webhooks', of: name, algorithms: ['HMAC-SHA256'], use: 'signs' },
          ...{ ...nothingShown, source: variable(settings.channels[name]?.secretVariable ?? null) },
        }),
      ),
    ),
    ...(dkim === null
      ? []
      : [
          {
            ...{ purpose: 'mail', of: dkim.domainName, algorithms: ['RSA-SHA256'], use: 'signs' },
            ...{ ...nothingShown, kid: dkim.keySelector },
            source:
              settings.mail.dkim?.keyFile == null
                ? variable('GUESTLIST_DKIM_KEY')
                : { kind: 'file', name: settings.mail.dkim.keyFile },
          } satisfies SigningKey,
        ]),
  ];
};

export const createReadSigningKeys =
  (parts: Parts): ReadSigningKeys =>
  () => ({
    keys: [...parts.issuers.flatMap(sessionKeys), ...otherKeys(parts), ...providerKeys(parts), ...archiveKey(parts)],
    sets: parts.issuers.flatMap(setsOf),
  });
