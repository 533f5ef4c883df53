/**
 * A board with metrics of every shape, and guests of two clients who see all states or some of them. The use cases run
 * over a database with all rows, or over one that holds only the rows that a guest may see.
 */
import { hostMade, type VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import type { Engine, MetricQuestion, Reads } from '../../src/model/query/engine.js';
import { columnRef, createFolder, createLoggedEngine, datasourceAt, metric } from '../engine/world.js';
import { createWorld, settings, stateFilter, statements, type World } from '../service/world.js';

const measures = [{ name: 'Count', aggregate: 'COUNT' as const }];
const shop = { name: 'Shop', column: columnRef('sales.shop') };
const state = { name: 'State', column: columnRef('shops.state') };
const day = { name: 'Day', column: columnRef('visits.day') };
const place = { name: 'Place', column: columnRef('visits.shop') };
const salesUnderlying = ['sales.id', 'sales.shop'].map(columnRef);
const sales = (...dimensions: VisualDefinition['dimensions']) =>
  metric('sales', { dimensions, measures, underlying: salesUnderlying });
const visits = (...dimensions: VisualDefinition['dimensions']) =>
  metric('visits', { dimensions, measures, underlying: [day.column, place.column] });

const definitions: Readonly<Record<string, VisualDefinition>> = {
  shops: sales(shop),
  states: sales(state),
  both: sales({ ...shop, name: 'Code' }, state),
  drilled: metric('sales', { dimensions: [state], measures, drillPath: [shop], underlying: salesUnderlying }),
  ids: sales({ name: 'Ids', column: columnRef('sales.id'), bucketWidth: 10 }),
  total: sales(),
  days: visits({ ...day, grain: 'day' }),
  months: visits({ ...day, name: 'Month', grain: 'month' }),
  places: visits(place, { ...day, grain: 'week' }),
};

/** The metrics of the board. */
export const metricIds: readonly string[] = Object.keys(definitions);

/** The definition of a metric of the board. */
export const definitionOf = (metricId: string): VisualDefinition => {
  const definition = definitions[metricId];
  if (definition === undefined) throw new Error(`no metric ${metricId}`);
  return definition;
};

export const clients = ['a', 'b'] as const;
/** The states that a token may show. `null`: all of them. */
export const restrictions = [null, ['CA'], ['NV', 'NY']] as const;
type Client = (typeof clients)[number];
type Restriction = (typeof restrictions)[number];

/** The rows of both clients, in more shops than the world of the use cases has. */
const allRows: readonly string[] = [
  ...statements,
  "INSERT INTO shops VALUES ('s4','CA'), ('s5','WA'), ('s6',NULL)",
  `INSERT INTO sales SELECT 100 + i, CASE WHEN i % 3 = 0 THEN 'b' ELSE 'a' END,
    CASE WHEN i % 11 = 0 THEN NULL ELSE 's' || (1 + i * 7 % 8) END FROM range(120) t(i)`,
  `INSERT INTO visits SELECT DATE '2023-09-15' + CAST(i AS INTEGER), CASE WHEN i % 4 = 0 THEN 'b' ELSE 'a' END,
    's' || (1 + i * 5 % 7) FROM range(120) t(i)`,
];

/** Deletes the rows of the other client, and those that the restriction hides. */
const deletionsFor = (client: Client, states: Restriction): readonly string[] => {
  const ofOthers = ['sales', 'visits'].map((name) => `DELETE FROM ${name} WHERE client <> '${client}'`);
  if (states === null) return ofOthers;
  const isSeen = `state IN (${states.map((each) => `'${each}'`).join(', ')})`;
  return [
    ...ofOthers,
    `DELETE FROM shops WHERE NOT coalesce(${isSeen}, FALSE)`,
    ...['sales', 'visits'].map(
      (name) => `DELETE FROM ${name} WHERE shop IS NULL OR shop NOT IN (SELECT code FROM shops)`,
    ),
  ];
};

/** Makes the board of all metrics, and an embed of it whose users make metrics by chat. Returns the embed's id. */
const makeBoard = async (world: World): Promise<string> => {
  const { id } = await world.template('board', { filters: [stateFilter], isAllowPrivateMetricsByDefault: true });
  for (const metricId of metricIds) {
    const definition = definitionOf(metricId);
    const parts = { metricId, workspaceId: 'w', name: metricId, definition, lineage: [], owner: null, ...hostMade };
    await world.store.metrics.insert(parts);
  }
  const placed = metricIds.map((metricId) => ({ metricId, placement: 'METRIC' as const }));
  await world.store.dashboards.placeMetrics(id, placed, new Date(Date.UTC(2023, 0, 1)));
  await world.embed('board', undefined, { ...settings, isAllowMetricCreation: true });
  const chatting = { isAllowMetricCreation: true, isAllowAiPilot: true, metricCreationMode: 'CHAT' } as const;
  const chatEmbedId = await world.embed('board', undefined, { ...settings, ...chatting });
  const workspace = await world.store.workspaces.findById('w');
  if (workspace === undefined) throw new Error('the world has a workspace');
  await world.store.workspaces.update({ ...workspace, isEnableMetricSummary: true, isEnableMetricSuggestions: true });
  return chatEmbedId;
};

/** Mints a token of the client that shows these states, with the permissions to download and to read rows. */
const mintGuest = (world: World, client: Client, states: Restriction): Promise<GuestCaller> => {
  const values = { State: [...(states ?? [])] };
  const params = states === null ? {} : { dashboardAppFilters: [{ dashboardId: 'board', values, isShowOnUrl: true }] };
  const permissions = { isEnableDownloadMetrics: true, isEnableUnderlyingData: true };
  return world.mint(params, { clientId: client, permissions });
};

/** The dependencies of the use cases, with an engine that reads every question from one database. */
const depsOver = (world: World, engine: Engine, path: string) => {
  const datasource = { ...datasourceAt(path), id: path };
  const there = <Question extends Pick<MetricQuestion, 'datasource'>>(question: Question): Question => ({
    ...question,
    datasource,
  });
  const readsOf = ({ query, underlying, options, stream }: Reads): Reads => ({
    query: (question) => query(there(question)),
    underlying: (question) => underlying(there(question)),
    options: (question) => options(there(question)),
    stream: (question) => stream(there(question)),
  });
  const reads: Engine = {
    ...engine,
    ...readsOf(engine),
    introspect: () => engine.introspect(datasource),
    listClientDatabases: () => engine.listClientDatabases(datasource),
    until: (signal) => readsOf(engine.until(signal)),
  };
  return { ...world.deps, engine: reads };
};
export type Deps = ReturnType<typeof depsOver>;

/** What a guest sees: a token, and a database that holds only the rows of that token. */
type Seen = { readonly guest: GuestCaller; readonly path: string };

export type GuestWorld = Awaited<ReturnType<typeof createGuestWorld>>;

/** Builds the board, the guests and their databases. */
export const createGuestWorld = async () => {
  const world = await createWorld();
  const folder = await createFolder();
  const { engine } = createLoggedEngine();
  const chatEmbedId = await makeBoard(world);
  const shared = await folder.build('shared', allRows);
  const keyOf = (client: Client, states: Restriction): string => JSON.stringify([client, states]);
  const seen = new Map<string, Seen>();
  for (const client of clients) {
    for (const [index, states] of restrictions.entries()) {
      const path = await folder.build(`left-${client}-${index}`, [...allRows, ...deletionsFor(client, states)]);
      seen.set(keyOf(client, states), { guest: await mintGuest(world, client, states), path });
    }
  }
  const seenBy = (client: Client, states: Restriction): Seen => {
    const found = seen.get(keyOf(client, states));
    if (found === undefined) throw new Error(`no guest for ${keyOf(client, states)}`);
    return found;
  };
  return {
    /** The embed of the board whose users make metrics by chat. */
    chatEmbedId,
    guestOf: (client: Client, states: Restriction): GuestCaller => seenBy(client, states).guest,
    /** The use cases over the rows of all clients. */
    overAllRows: (): Deps => depsOver(world, engine, shared),
    /** The use cases over the rows that this guest may see, and no others. */
    overRowsOf: (client: Client, states: Restriction): Deps => depsOver(world, engine, seenBy(client, states).path),
    /** The use cases over the rows of the use cases' world and of these statements. */
    overRows: async (name: string, more: readonly string[]): Promise<Deps> =>
      depsOver(world, engine, await folder.build(name, [...statements, ...more])),
    close: async (): Promise<void> => {
      await engine.close();
      await folder.remove();
      await world.close();
    },
  };
};
