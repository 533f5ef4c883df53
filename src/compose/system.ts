/** Reads what Studio shows of this process. */
import type { Registry } from 'prom-client';
import type { Config } from '../platform/config/config.js';
import type { Check, Readiness } from '../platform/logs/readiness.js';
import { type ReadSystem, type SystemNumber, withoutSecrets } from '../studio/process-commands.js';

type Parts = {
  readonly version: string;
  readonly config: Pick<Config, 'settings'>;
  readonly checks: readonly Check[];
  readonly readiness: Readiness;
  readonly registry: Registry;
};

/** The product's own counts and levels, each added up over its labels. Durations have too many numbers for a list. */
const readNumbers = async (registry: Registry): Promise<readonly SystemNumber[]> => {
  const all = await registry.getMetricsAsJSON();
  return all
    .filter(({ name, type }) => name.startsWith('guestlist_') && ['counter', 'gauge'].includes(String(type)))
    .map(({ name, help, values }) => ({ name, help, value: values.reduce((sum, { value }) => sum + value, 0) }));
};

export const createReadSystem =
  ({ version, config, checks, readiness, registry }: Parts): ReadSystem =>
  async () => {
    const [failed, numbers] = await Promise.all([readiness.failed(), readNumbers(registry)]);
    const describe = ({ name }: Check) => {
      const isGood = !failed.includes(name);
      const tookMs = readiness.tookMs(name);
      return {
        ...{ name, isGood, fix: isGood ? null : (readiness.fixOf(name) ?? null) },
        tookMs: tookMs === undefined ? null : Math.round(tookMs),
      };
    };
    return { version, checks: checks.map(describe), settings: withoutSecrets(config.settings), numbers };
  };
