/**
 * The engine's limits in its own units, from the settings. A caller that names no limit gets the setting's default: the
 * schema in platform/config/settings.ts is the only place of defaults.
 */
import { defaultSettings, type Settings } from '../../platform/config/settings.js';

const mebibyte = 1_048_576;
const secondMs = 1_000;

/** The settings of queries and of connections to datasources, in milliseconds and bytes. */
export const engineLimits = ({ queries, datasources }: Pick<Settings, 'queries' | 'datasources'>) => ({
  timeoutMs: queries.timeoutSeconds * secondMs,
  streamMs: queries.downloadSeconds * secondMs,
  /** How long a question waits for a connection. */
  waitMs: queries.waitSeconds * secondMs,
  maxConnections: datasources.maxConnections,
  maxConnectionsPerDatasource: datasources.maxConnectionsPerDatasource,
  maxConnectionsPerClient: datasources.maxConnectionsPerClient,
  limits: { answerRows: queries.answerRows, answerBytes: queries.answerMegabytes * mebibyte },
  queue: {
    /** Null: as many as the database has connections. */
    running: null,
    runningPerClient: queries.runningPerClient,
    waitingPerClient: queries.waitingPerClient,
    waiting: queries.waiting,
    waitMs: queries.waitSeconds * secondMs,
  },
});

/** The limits if nothing is configured. */
export const usualLimits = engineLimits(defaultSettings());
