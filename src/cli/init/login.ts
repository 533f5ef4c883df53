/** The login provider of `init --login`: the issuer's lines of the configuration, and sessions to try the policy with. */
import { InvalidArgumentError } from '@commander-js/extra-typings';
import {
  isPresetName,
  loadPreset,
  organizationClaims,
  type Preset,
  type PresetName,
  presetNames,
} from '../../platform/config/presets.js';
import { WrongCall } from '../kit/exit.js';
import { type Asking, answerTo } from './questions.js';

export type LoginFlags = {
  readonly login?: PresetName;
  readonly issuer?: string;
  readonly audience?: string;
  readonly jwksUrl?: string;
};

/** An entry of the setting `gateway.session.issuers`. The preset brings the rest. */
type IssuerEntry = {
  readonly preset: PresetName;
  readonly issuer: string;
  readonly audience?: string;
  readonly jwksUrl?: string;
};

export type Login = {
  readonly preset: PresetName;
  /** The provider's name for people. */
  readonly provider: string;
  readonly docs: string;
  readonly issuer: IssuerEntry;
  /** The claims of a session in the tenant's organization. */
  readonly claimsOf: (tenant: string) => Readonly<Record<string, unknown>>;
};

export const readLogin = (name: string): PresetName => {
  if (isPresetName(name)) return name;
  throw new InvalidArgumentError(`Give one of ${presetNames.join(', ')}.`);
};

type Wanted = { readonly flag: string; readonly about: string; readonly given: string | undefined };

const ask = async (asking: Asking, { flag, about, given }: Wanted): Promise<string> => {
  if (given !== undefined) return given;
  if (asking === null) throw new WrongCall(`give ${flag}: ${about}`);
  const validate = (value: string | undefined) => ((value ?? '').trim() === '' ? 'this is needed' : undefined);
  return (await answerTo(asking, asking.text({ message: `${flag.replace(/^--/, '')}: ${about}`, validate }))).trim();
};

/** Asks for the address of the keys, where neither discovery nor the issuer's name tells it. */
const askKeys = async (asking: Asking, { discover, jwksUrl = '' }: Preset['issuer'], given: string | undefined) => {
  const isTold = discover || !jwksUrl.replace('{iss}', '').includes('{');
  if (given === undefined && isTold) return {};
  return { jwksUrl: await ask(asking, { flag: '--jwks-url', about: `the address of its keys, ${jwksUrl}`, given }) };
};

/** Asks what the preset leaves open. Null: no login provider was named. */
export const askLogin = async (asking: Asking, flags: LoginFlags): Promise<Login | null> => {
  const { login } = flags;
  if (login === undefined) return null;
  const preset = loadPreset(login);
  const { iss, audience, audienceIs } = preset.issuer;
  const issuer = await ask(asking, { flag: '--issuer', about: `the iss of its tokens, ${iss}`, given: flags.issuer });
  const keys = await askKeys(asking, preset.issuer, flags.jwksUrl);
  const aud =
    flags.audience === undefined && audience !== 'required'
      ? undefined
      : await ask(asking, { flag: '--audience', about: `the aud of its tokens. ${audienceIs}`, given: flags.audience });
  return {
    ...{ preset: login, provider: preset.provider, docs: preset.docs },
    issuer: { preset: login, issuer, ...(aud === undefined ? {} : { audience: aud }), ...keys },
    claimsOf: (tenant) => organizationClaims(preset, tenant) ?? {},
  };
};
