import type { EngineOptions } from './engine/engine.js';
import type { Settings } from './platform/config.js';

/** The settings of `queries`, as the engine takes them. */
export const queryLimits = ({
  timeoutSeconds,
  answerRows,
  answerMegabytes,
  downloadSeconds,
}: Settings['queries']): Pick<EngineOptions, 'timeoutMs' | 'streamMs' | 'limits'> => ({
  timeoutMs: timeoutSeconds * 1000,
  streamMs: downloadSeconds * 1000,
  limits: { answerRows, answerBytes: answerMegabytes * 1_048_576 },
});
