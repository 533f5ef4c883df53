/**
 * Language models of the operator, which speak the protocol of OpenAI. Addresses and keys come from the configuration and
 * the environment alone, so no guest can make this process send anything elsewhere.
 */
import { z } from 'zod';
import type { Outgoing } from '../calls/outgoing.js';
import { channelName } from './channels.js';
import { type OutgoingFault, type OutgoingSources, readVariable, urlFault, variable } from './outgoing-settings.js';

const modelSetting = z.strictObject({
  url: z.string().min(1).max(2000),
  model: z.string().min(1).max(200),
  keyVariable: variable.optional(),
  allowRows: z.boolean().default(false),
  allowPrivateAddresses: z.boolean().default(false),
  allowHttp: z.boolean().default(false),
  timeoutSeconds: z.number().int().min(1).max(600).default(60),
  answerTokens: z.number().int().min(16).max(100_000).default(2_000),
});

/** The setting `models`. */
export const modelsSetting = z.record(channelName, modelSetting).default({});
type ModelSettings = z.output<typeof modelsSetting>;

/** A model that can be asked. `url` is that of the operation; `key` is never logged. */
export type ConfiguredModel = Outgoing & {
  readonly name: string;
  /** Its name at the server. */
  readonly model: string;
  readonly key: string | null;
  /** Whether rows of the guest who asks may be sent to it. */
  readonly allowsRows: boolean;
  readonly timeoutMs: number;
  readonly answerTokens: number;
};

type Loaded = { readonly model: ConfiguredModel; readonly faults: readonly OutgoingFault[] };

const loadModel = (name: string, setting: ModelSettings[string], { env, isProduction }: OutgoingSources): Loaded => {
  const key = readVariable(setting.keyVariable, env);
  const faults = [
    ['url', urlFault(setting.url, isProduction, setting.allowHttp)] as const,
    ['keyVariable', key.fault] as const,
  ].flatMap(([field, mend]) => (mend === null ? [] : [{ path: `models.${name}.${field}`, mend }]));
  const model = {
    name,
    url: `${setting.url.replace(/\/+$/, '')}/chat/completions`,
    model: setting.model,
    key: key.value,
    allowsRows: setting.allowRows,
    allowsPrivate: setting.allowPrivateAddresses,
    timeoutMs: setting.timeoutSeconds * 1000,
    answerTokens: setting.answerTokens,
  };
  return { model, faults };
};

/** Reads the models with their keys. No fault holds a key. */
export const loadModels = (settings: ModelSettings, sources: OutgoingSources) => {
  const loaded = Object.entries(settings).map(([name, setting]) => loadModel(name, setting, sources));
  return {
    models: loaded.flatMap(({ model, faults }) => (faults.length === 0 ? [model] : [])),
    faults: loaded.flatMap(({ faults }) => faults),
  };
};

/** The environment variables that models name. */
export const modelVariables = (settings: ModelSettings | undefined): readonly string[] =>
  Object.values(settings ?? {}).flatMap(({ keyVariable }) => (keyVariable === undefined ? [] : [keyVariable]));
