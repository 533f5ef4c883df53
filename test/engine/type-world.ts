/** A table of every type of one database, with an engine that reads it. */
import type { EngineOptions } from '../../src/engine/engine.js';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import { definitionTypeFaults } from '../../src/model/dashboard/type-faults.js';
import { drillProbes, hasUnknownTypes, rowProbes, wholeProbe } from '../../src/model/dashboard/type-probes.js';
import type { Datamart, DatamartColumn } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import { type Engine, isTypeFault, type MetricAnswer } from '../../src/model/query/engine.js';
import { Refusal } from '../../src/model/refusal.js';
import { createBuilder, type Kind } from './test-databases.js';
import { typeTable } from './type-samples.js';
import { createLoggedEngine, datamart, type Place, question, stays, table } from './world.js';

export type TypeWorld = {
  readonly place: Place;
  readonly engine: Engine;
  readonly mart: Datamart;
  readonly ask: (definition: MetricDefinition, conditions?: readonly Condition[]) => Promise<MetricAnswer>;
  /** Undefined where the write accepts the metric, as assertTypes decides; else what it says. */
  readonly faultOf: (definition: MetricDefinition) => Promise<string | undefined>;
  readonly close: () => Promise<void>;
};

/** A test's metric that only its underlying rows are read of. */
const isOfRows = (definition: MetricDefinition): boolean =>
  definition.kind === 'visual' && definition.dimensions.length + definition.measures.length === 0;

export const plainColumn = { alias: '', label: '', isHide: false, isApplyTimezone: false } as const;

/** `more`: columns that the datamart computes. */
export const openTypes = async (
  kind: Kind,
  more: readonly DatamartColumn[] = [],
  options: Partial<EngineOptions> = {},
): Promise<TypeWorld> => {
  const builder = await createBuilder(kind);
  const place = await builder.build('types', typeTable(kind));
  const { engine } = createLoggedEngine(options);
  const source = (await engine.introspect(place.datasource)).find(({ tableName }) => tableName === 'types');
  const columns = (source?.columns ?? []).map(({ columnName, datatype, kind: kindOfValues }) => ({
    ...{ columnName, datatype, kind: kindOfValues, ...plainColumn },
  }));
  const mart = datamart({ tenancy: null, tables: [{ ...table('types', {}), columns: [...columns, ...more] }] });
  const faultOf: TypeWorld['faultOf'] = async (definition) => {
    const faults = definitionTypeFaults(definition, mart);
    if (faults.length > 0) return faults.join(' ');
    if (!hasUnknownTypes(definition, mart)) return undefined;
    const probes = [drillProbes(definition, mart), rowProbes(definition, mart)].flat();
    try {
      for (const probe of isOfRows(definition) ? probes : [wholeProbe(definition), ...probes]) {
        const {
          datasource,
          datamart: placed,
          tenant,
          definition: asked,
        } = question(place, mart, 'None', probe.definition);
        await engine.check({ datasource, datamart: placed, tenant, definition: asked, conditions: [] }, stays);
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Any other failure is of the moment, and refuses nothing.
      return isTypeFault(error) ? `${error.reason}: ${error.message}` : undefined;
    }
  };
  return {
    ...{ place, engine, mart, faultOf },
    ask: (definition, conditions = []) => engine.query(question(place, mart, 'None', definition, { conditions })),
    close: async () => {
      await engine.close();
      await builder.remove();
    },
  };
};
