/**
 * Channels beside e-mail: webhooks of the operator. Addresses and secrets come from the configuration and the environment
 * alone, so no guest can make this process send anything elsewhere.
 */
import { z } from 'zod';
import type { Outgoing } from '../calls/outgoing.js';
import { weaknessOfBytes } from '../keys/secret-strength.js';
import { hookSecretMend, isHookSecret, readHookSecrets } from './hook-secrets.js';
import { type OutgoingFault, type OutgoingSources, readVariable, urlFault, variable } from './outgoing-settings.js';

const channelKinds = ['webhook', 'slack'] as const;

/** A name as policies write it. */
export const channelName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9_.-]+$/, 'must be made of letters, digits, "_", "." and "-"');

const channelSetting = z.strictObject({
  kind: z.enum(channelKinds),
  url: z.string().min(1).max(2000).optional(),
  urlVariable: variable.optional(),
  secretVariable: variable.optional(),
  allowPrivateAddresses: z.boolean().default(false),
});

/** The setting `channels`. */
export const channelsSetting = z.record(channelName, channelSetting).default({});
type ChannelSettings = z.output<typeof channelsSetting>;

/** A channel that can be sent to. `url` and `secrets` are never logged. */
export type Channel = Outgoing & {
  readonly name: string;
  readonly kind: (typeof channelKinds)[number];
  /**
   * Sign by Standard Webhooks: a message has a signature of each, while one replaces another. None for Slack, whose
   * address is the secret.
   */
  readonly secrets: readonly string[];
};

const secretFault = (secret: string, isProduction: boolean): string | null => {
  if (!isHookSecret(secret)) return `must name a secret of Standard Webhooks: ${hookSecretMend}`;
  const weakness = isProduction ? weaknessOfBytes(secret) : undefined;
  return weakness === undefined ? null : `names a secret that ${weakness}: ${hookSecretMend}`;
};

const secretsFault = (secrets: readonly string[], isProduction: boolean): string | null =>
  (secrets.length === 0 ? [''] : secrets).map((one) => secretFault(one, isProduction)).find((one) => one !== null) ??
  null;

const fieldFault = ({ kind, url, urlVariable, secretVariable }: ChannelSettings[string]): string | null => {
  if (kind === 'webhook') {
    return url !== undefined && urlVariable === undefined && secretVariable !== undefined
      ? null
      : 'needs url and secretVariable, and no urlVariable: webhooks are signed';
  }
  return url === undefined && urlVariable !== undefined && secretVariable === undefined
    ? null
    : 'needs urlVariable alone: who knows the address of a Slack webhook can write to it';
};

type Loaded = { readonly channel: Channel | null; readonly faults: readonly OutgoingFault[] };

const loadChannel = (
  name: string,
  setting: ChannelSettings[string],
  { env, isProduction }: OutgoingSources,
): Loaded => {
  const path = `channels.${name}`;
  const misfit = fieldFault(setting);
  if (misfit !== null) return { channel: null, faults: [{ path, mend: misfit }] };
  const { kind, urlVariable, secretVariable, allowPrivateAddresses } = setting;
  const address = kind === 'slack' ? readVariable(urlVariable, env) : { value: setting.url ?? null, fault: null };
  const secret = readVariable(secretVariable, env);
  const secrets = readHookSecrets(secret.value ?? '');
  const faults = [
    [kind === 'slack' ? 'urlVariable' : 'url', address.fault ?? urlFault(address.value ?? '', isProduction)] as const,
    ['secretVariable', secret.fault ?? (secret.value === null ? null : secretsFault(secrets, isProduction))] as const,
  ].flatMap(([field, mend]) => (mend === null ? [] : [{ path: `${path}.${field}`, mend }]));
  if (faults.length > 0 || address.value === null) return { channel: null, faults };
  const channel = { name, kind, url: address.value, secrets, allowsPrivate: allowPrivateAddresses };
  return { channel, faults: [] };
};

type Asked = {
  readonly channels: ChannelSettings;
  /** `channel`: the name of the channel that gets what tenants used. */
  readonly usage: { readonly channel: string | null };
};

/** That of use is signed, so that the receiver can bill by it. */
const usageFault = ({ channels, usage: { channel } }: Asked): OutgoingFault | null =>
  channel === null || (Object.hasOwn(channels, channel) && channels[channel]?.kind === 'webhook')
    ? null
    : { path: 'usage.channel', mend: 'must name an entry of channels with kind: webhook' };

/**
 * Reads the channels with their secrets. No fault holds an address or a secret of the environment. The channel of use is
 * apart from the others, so that no policy can let a user write to it.
 */
export const loadChannels = (asked: Asked, sources: OutgoingSources, publicOrigin: string | null = '') => {
  const { channels: settings, usage } = asked;
  const loaded = Object.entries(settings).map(([name, setting]) => loadChannel(name, setting, sources));
  const channels = loaded.flatMap(({ channel }) => (channel === null ? [] : [channel]));
  const fault = usageFault(asked);
  return {
    channels: channels.filter(({ name }) => name !== usage.channel),
    usageChannel: channels.find(({ name }) => name === usage.channel) ?? null,
    faults: [
      ...loaded.flatMap(({ faults }) => faults),
      ...(fault === null ? [] : [fault]),
      ...(loaded.length > 0 && publicOrigin === null
        ? [{ path: 'gateway.publicOrigin', mend: 'is null, but channels has entries, which need it' }]
        : []),
    ],
  };
};

/** The environment variables that channels name. */
export const channelVariables = (settings: ChannelSettings | undefined): readonly string[] =>
  Object.values(settings ?? {}).flatMap(({ urlVariable, secretVariable }) =>
    [urlVariable, secretVariable].filter((name) => name !== undefined),
  );
