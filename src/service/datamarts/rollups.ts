/** What is kept of rollups: listed, built by an operator, and built again as their declarations say. */
import type { Datamart, Rollup } from '../../model/datamart/datamart.js';
import type { ServiceCaller } from '../../model/guest/caller.js';
import type { Clock } from '../../model/ports.js';
import type { Engine, KeptRollup, RequestSignal, RollupBuilder, RollupReport } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import type { Calendar } from '../../model/schedule/recurrence.js';
import type { Store } from '../store/store.js';
import { isRefreshDue } from './refresh-times.js';
import { unknownDatamart } from './tenancy.js';

type Deps = { readonly store: Pick<Store, 'datasources' | 'datamarts'>; readonly engine: Pick<Engine, 'rollups'> };

const builderOf = ({ rollups }: Deps['engine']): RollupBuilder => {
  if (rollups !== null) return rollups;
  throw new Refusal('INVALID_REQUEST_BODY', 'Rollups are off: the operator sets rollups.folder.', {
    reason: 'rollups-off',
  });
};

const loadDatamart = async ({ store }: Pick<Deps, 'store'>, datamartName: string) => {
  const datamart = await store.datamarts.findByName(datamartName);
  const datasource = datamart && (await store.datasources.findById(datamart.datasourceId));
  if (datamart === undefined || datasource === undefined) throw unknownDatamart(datamartName);
  return { datamart, datasource };
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const reportOf = ({ name }: Rollup, state: RollupReport['state'], kept: KeptRollup | null): RollupReport => {
  const { closedUntil = null, checkedAt = null, partitions = [] } = kept ?? {};
  const files = partitions.flatMap((one) => one.files);
  return {
    ...{ name, state, closedUntil, checkedAt, files: files.length },
    rows: sum(files.map(({ rows }) => rows)),
    sourceRows: sum(partitions.map(({ sourceRows }) => sourceRows)),
    bytes: sum(files.map(({ bytes }) => bytes)),
  };
};

export const listRollups =
  (deps: Deps) =>
  async (
    _caller: ServiceCaller,
    { datamartName }: { readonly datamartName: string },
  ): Promise<readonly RollupReport[]> => {
    const builder = builderOf(deps.engine);
    const { datamart, datasource } = await loadDatamart(deps, datamartName);
    const reports: RollupReport[] = [];
    for (const rollup of datamart.rollups ?? []) {
      const { isCurrent, manifest } = await builder.state({ datasource, datamart, rollup });
      reports.push(reportOf(rollup, manifest === null ? 'none' : isCurrent ? 'current' : 'outdated', manifest));
    }
    return reports;
  };

type Build = { readonly datamartName: string; readonly rollupName: string; readonly isWhole: boolean };

export const buildRollup =
  (deps: Deps) =>
  async (
    _caller: ServiceCaller,
    { datamartName, rollupName, isWhole }: Build,
    signal?: RequestSignal,
  ): Promise<RollupReport> => {
    const builder = builderOf(deps.engine);
    const { datamart, datasource } = await loadDatamart(deps, datamartName);
    const rollup = (datamart.rollups ?? []).find(({ name }) => name === rollupName);
    if (rollup === undefined) {
      const names = (datamart.rollups ?? []).map(({ name }) => JSON.stringify(name)).join(', ') || 'none';
      const message = `rollupName: datamart ${JSON.stringify(datamartName)} has no such rollup; there are: ${names}.`;
      throw new Refusal('INVALID_REQUEST_BODY', message, { reason: 'rollup-refused' });
    }
    const until = signal ?? new AbortController().signal;
    const kept = await builder.build({ datasource, datamart, rollup, isWhole }, until);
    return reportOf(rollup, 'current', kept);
  };

type Noted = {
  readonly built: (datamart: Datamart) => void;
  readonly failed: (datamart: string, rollup: string, error: unknown) => void;
};

type Declared = { readonly datamart: Datamart; readonly rollup: Rollup };

const listDeclared = async ({ datamarts }: Deps['store']): Promise<readonly Declared[]> => {
  const declared: Declared[] = [];
  for await (const slice of datamarts.list(null)) {
    for (const { datamart } of slice) for (const rollup of datamart.rollups ?? []) declared.push({ datamart, rollup });
  }
  return declared;
};

/**
 * Builds the rollups that are due, one after the other, and looks at each time whether the datasource decides over rows
 * of the others by itself now. Builds each as often as its declaration says, also after a failure. Another process may
 * have built it meanwhile, or be building it.
 */
export const createRefresh = (deps: Deps & { readonly clock: Clock; readonly calendar: Calendar }, noted: Noted) => {
  const { store, engine, clock, calendar } = deps;
  const looked = new Map<string, Date>();
  const isDue = (datamart: Datamart, { name, refresh }: Rollup): boolean => {
    const key = JSON.stringify([datamart.id, datamart.updatedAt, name]);
    const [now, last] = [clock.now(), looked.get(key)];
    if (last !== undefined && !isRefreshDue(refresh, calendar, { last, now })) return false;
    looked.set(key, now);
    return true;
  };
  const refreshOne = async (builder: RollupBuilder, datamart: Datamart, rollup: Rollup, signal: AbortSignal) => {
    const datasource = await store.datasources.findById(datamart.datasourceId);
    if (datasource === undefined) return;
    const place = { datasource, datamart, rollup };
    if (!isDue(datamart, rollup)) {
      if ((await builder.state(place)).manifest !== null) await builder.assertOpen(place, signal);
      return;
    }
    const { isCurrent, manifest } = await builder.state(place);
    const last = manifest === null ? null : new Date(manifest.checkedAt);
    if (isCurrent && last !== null && !isRefreshDue(rollup.refresh, calendar, { last, now: clock.now() })) return;
    await builder.build({ ...place, isWhole: false }, signal);
    noted.built(datamart);
  };
  const refreshNoted = async (builder: RollupBuilder, { datamart, rollup }: Declared, signal: AbortSignal) => {
    try {
      await refreshOne(builder, datamart, rollup, signal);
    } catch (error) {
      const isBusy = error instanceof Refusal && error.reason === 'rollup-busy';
      if (!signal.aborted && !isBusy) noted.failed(datamart.name, rollup.name, error);
    }
  };
  return async (signal: AbortSignal): Promise<void> => {
    const builder = engine.rollups;
    if (builder === null) return;
    const declared = await listDeclared(store);
    await builder.keepOnly(declared);
    for (const one of declared) {
      if (signal.aborted) return;
      await refreshNoted(builder, one, signal);
    }
  };
};
