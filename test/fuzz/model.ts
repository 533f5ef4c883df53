/** Sequences of operations against a small model of what exists: fast-check finds them, and shrinks one that fails. */
import fc from 'fast-check';
import type { Operation } from '../../src/platform/http/interface/operation.js';
import { operations } from '../../src/service/operations.js';
import { call, type House, type Input, settings } from '../spec/house.js';
import { judge } from './judge.js';

type Name = keyof typeof operations;
type App = {
  /** Names with their keys. */
  readonly keys: Map<string, string>;
  /** Dashboard ids, and which of them still have their embed. */
  readonly boards: Map<string, boolean>;
  readonly tokens: Set<string>;
};
type Model = {
  readonly apps: Map<string, App>;
  /** Datamarts, and whether each has a semantic layer. */
  readonly marts: Map<string, boolean>;
  readonly workspaces: Set<string>;
  /** Tokens of deleted things. */
  readonly dead: Set<string>;
};

type Real = { readonly house: House; readonly prefix: string; readonly count: () => void };
type Expected = 'ok' | string;
type Step = fc.AsyncCommand<Model, Real>;

/** Sends a request, checks the answer, and expects success or this code. */
const expectCall = async (
  { house, count }: Real,
  name: Name,
  input: Input,
  expected: Expected,
  bearer?: string,
): Promise<Record<string, unknown>> => {
  const started = performance.now();
  const answer = await call(house, name, input, bearer === undefined ? {} : { bearer });
  count();
  const operation: Operation = operations[name];
  const [binding] = operation.bindings;
  const path = (binding?.path ?? '').replaceAll(/\{\w+\}/g, 'x');
  const seen = {
    status: answer.status,
    contentType: answer.headers.get('content-type') ?? '',
    text: answer.text,
    durationInMs: performance.now() - started,
  };
  const fault = judge(binding?.method ?? 'GET', path, seen, [house.serviceToken, house.apiKey]);
  if (fault !== undefined) throw new Error(`${name}: ${fault}`);
  const error = answer.body.error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : 'ok';
  const got = answer.status === 200 ? 'ok' : code;
  if (got !== expected)
    throw new Error(`${name} ${JSON.stringify(input)}: ${String(got)} came, the model says ${expected}`);
  return answer.body;
};

type Act = (model: Model, real: Real) => Promise<void>;

const step = (title: string, act: Act, check: (model: Readonly<Model>) => boolean = () => true): Step => ({
  check: (model) => check(model),
  run: act,
  toString: () => title,
});

const names = fc.constantFrom('a', 'b');
const full = ({ prefix }: Real, name: string): string => `${prefix}${name}`;
const newApp = (): App => ({ keys: new Map(), boards: new Map(), tokens: new Set() });

/** A key of the app; creates one if it has none. */
const keyOf = async (real: Real, app: App, name: string): Promise<string> => {
  const [known] = app.keys.values();
  if (known !== undefined) return known;
  const { key } = await expectCall(real, 'createApiKey', { dataAppName: full(real, name), name: 'first' }, 'ok');
  app.keys.set('first', String(key));
  return String(key);
};

const hasApp =
  (name: string) =>
  ({ apps }: Readonly<Model>): boolean =>
    apps.has(name);

const loadApp = ({ apps }: Model, name: string): App => {
  const app = apps.get(name);
  if (app === undefined) throw new Error(`the model has no data app ${name}`);
  return app;
};

const appSteps: readonly fc.Arbitrary<Step>[] = [
  names.map((name) =>
    step(`create app ${name}`, async ({ apps }, real) => {
      await expectCall(
        real,
        'createDataApp',
        { name: full(real, name) },
        apps.has(name) ? 'DATA_APP_ALREADY_EXISTS' : 'ok',
      );
      if (!apps.has(name)) apps.set(name, newApp());
    }),
  ),
  fc.tuple(names, names).map(([from, to]) =>
    step(
      `rename app ${from} to ${to}`,
      async ({ apps }, real) => {
        const app = apps.get(from);
        const expected = app === undefined ? 'DATA_APP_NOT_FOUND' : apps.has(to) ? 'DATA_APP_ALREADY_EXISTS' : 'ok';
        await expectCall(real, 'updateDataApp', { name: full(real, from), updateName: full(real, to) }, expected);
        if (app === undefined || expected !== 'ok') return;
        apps.delete(from);
        apps.set(to, app);
      },
      // Renaming to its own name does not depend on other names.
      () => from !== to,
    ),
  ),
  names.map((name) =>
    step(`delete app ${name}`, async ({ apps, dead }, real) => {
      const app = apps.get(name);
      await expectCall(
        real,
        'deleteDataApp',
        { name: full(real, name) },
        app === undefined ? 'DATA_APP_NOT_FOUND' : 'ok',
      );
      for (const token of app?.tokens ?? []) dead.add(token);
      apps.delete(name);
    }),
  ),
];

const keySteps: readonly fc.Arbitrary<Step>[] = [
  fc.tuple(names, names).map(([name, key]) =>
    step(`create key ${key} of ${name}`, async ({ apps }, real) => {
      const app = apps.get(name);
      const expected = app === undefined ? 'DATA_APP_NOT_FOUND' : app.keys.has(key) ? 'API_KEY_ALREADY_EXISTS' : 'ok';
      const body = await expectCall(real, 'createApiKey', { dataAppName: full(real, name), name: key }, expected);
      if (expected === 'ok') app?.keys.set(key, String(body.key));
    }),
  ),
  fc.tuple(names, names).map(([name, key]) =>
    step(`delete key ${key} of ${name}`, async ({ apps }, real) => {
      const app = apps.get(name);
      const expected = app === undefined ? 'DATA_APP_NOT_FOUND' : app.keys.has(key) ? 'ok' : 'API_KEY_NOT_FOUND';
      await expectCall(real, 'deleteApiKey', { dataAppName: full(real, name), name: key }, expected);
      const gone = app?.keys.get(key);
      app?.keys.delete(key);
      if (gone !== undefined) await expectCall(real, 'listEmbeds', {}, 'AUTHENTICATION_ERROR', gone);
    }),
  ),
];

const boardSteps: readonly fc.Arbitrary<Step>[] = [
  fc.tuple(names, names, fc.constantFrom('acme', 'globex')).map(([name, board, clientId]) =>
    step(
      `create board ${board} of ${name}`,
      async (model, real) => {
        const app = loadApp(model, name);
        const key = await keyOf(real, app, name);
        const input = { dashboardId: board, workspaceName: 'shop', clientId, accessSettings: settings };
        await expectCall(
          real,
          'createDashboardEmbed',
          input,
          app.boards.has(board) ? 'INVALID_DASHBOARD_ID' : 'ok',
          key,
        );
        if (!app.boards.has(board)) app.boards.set(board, true);
      },
      hasApp(name),
    ),
  ),
  fc.tuple(names, names).map(([name, board]) =>
    step(
      `delete embed ${board} of ${name}`,
      async (model, real) => {
        const app = loadApp(model, name);
        const key = await keyOf(real, app, name);
        const expected = app.boards.get(board) === true ? 'ok' : 'INVALID_REQUEST_BODY';
        await expectCall(real, 'deleteEmbed', { embedId: board }, expected, key);
        if (expected === 'ok') app.boards.set(board, false);
      },
      hasApp(name),
    ),
  ),
  fc.tuple(names, names).map(([name, board]) =>
    step(
      `delete dashboard ${board} of ${name}`,
      async (model, real) => {
        const app = loadApp(model, name);
        const key = await keyOf(real, app, name);
        const expected = app.boards.has(board) ? 'ok' : 'INVALID_DASHBOARD_ID';
        await expectCall(real, 'deleteDashboard', { dashboardId: board }, expected, key);
        app.boards.delete(board);
      },
      hasApp(name),
    ),
  ),
  names.map((name) =>
    step(
      `list embeds of ${name}`,
      async (model, real) => {
        const app = loadApp(model, name);
        const { data } = await expectCall(real, 'listEmbeds', {}, 'ok', await keyOf(real, app, name));
        const listed = (data as readonly { embedId: string }[]).map(({ embedId }) => embedId).toSorted();
        const wanted = [...app.boards].flatMap(([board, isEmbedded]) => (isEmbedded ? [board] : [])).toSorted();
        if (listed.join() !== wanted.join())
          throw new Error(`embeds ${listed.join()}, the model says ${wanted.join()}`);
      },
      hasApp(name),
    ),
  ),
];

const tokenSteps: readonly fc.Arbitrary<Step>[] = [
  names.map((name) =>
    step(
      `mint for ${name}`,
      async (model, real) => {
        const app = loadApp(model, name);
        const input = { clientId: 'acme', dataAppName: full(real, name) };
        const { token } = await expectCall(real, 'createGuestToken', input, 'ok', await keyOf(real, app, name));
        app.tokens.add(String(token));
      },
      hasApp(name),
    ),
  ),
  names.map((name) =>
    step(
      `revoke all of ${name}`,
      async (model, real) => {
        const app = loadApp(model, name);
        await expectCall(real, 'revokeGuestTokens', { all: true }, 'ok', await keyOf(real, app, name));
        for (const token of app.tokens) model.dead.add(token);
        app.tokens.clear();
      },
      hasApp(name),
    ),
  ),
  fc.constant(
    step('read with every token', async ({ apps, dead }, real) => {
      for (const token of dead) {
        await expectCall(real, 'getGuestDashboard', { dashboardId: 'x' }, 'AUTHENTICATION_ERROR', token);
      }
      for (const token of [...apps.values()].flatMap(({ tokens }) => [...tokens])) {
        await expectCall(real, 'getGuestDashboard', { dashboardId: 'x' }, 'UNAUTHORIZED', token);
      }
    }),
  ),
];

const martBody = (name: string): Input => ({
  name,
  datasourceName: 'warehouse',
  tableList: [{ name: 'products', schemaName: 'main', columns: [{ name: 'id' }, { name: 'label' }] }],
});

const layerSteps = (name: string): readonly Step[] => {
  const layer = (operation: Name, code: (has: boolean) => Expected, after: (has: boolean) => boolean): Step =>
    step(`${operation} of ${name}`, async ({ marts }, real) => {
      const has = marts.get(name);
      const content = /^(create|update)/.test(operation) ? { feedback: 'Words.' } : {};
      const expected = has === undefined ? 'INVALID_DATAMART' : code(has);
      await expectCall(real, operation, { datamartName: full(real, name), ...content }, expected);
      if (has !== undefined) marts.set(name, after(has));
    });
  return [
    layer(
      'createSemanticLayer',
      (has) => (has ? 'SEMANTIC_LAYER_ALREADY_EXISTS' : 'ok'),
      () => true,
    ),
    layer(
      'updateSemanticLayer',
      (has) => (has ? 'ok' : 'SEMANTIC_LAYER_NOT_FOUND'),
      (has) => has,
    ),
    layer(
      'deleteSemanticLayer',
      (has) => (has ? 'ok' : 'SEMANTIC_LAYER_NOT_FOUND'),
      () => false,
    ),
    layer(
      'getSemanticLayer',
      () => 'ok',
      (has) => has,
    ),
  ];
};

const martSteps: readonly fc.Arbitrary<Step>[] = [
  names.map((name) =>
    step(`create datamart ${name}`, async ({ marts }, real) => {
      const expected = marts.has(name) ? 'DATAMART_ALREADY_EXISTS' : 'ok';
      await expectCall(real, 'createDatamart', martBody(full(real, name)), expected);
      if (!marts.has(name)) marts.set(name, false);
    }),
  ),
  names.map((name) =>
    step(`delete datamart ${name}`, async ({ marts }, real) => {
      const expected = marts.has(name) ? 'ok' : 'INVALID_REQUEST_BODY';
      await expectCall(real, 'deleteDatamart', { datamartName: full(real, name) }, expected);
      marts.delete(name);
    }),
  ),
  ...layerSteps('a').map((_, index) => names.map((name) => layerSteps(name)[index] ?? step('nothing', async () => {}))),
];

/** Whether the service has every operation that a set of steps uses; without one of them, the set is left out. */
const hasOperations = (...names: readonly string[]): boolean => names.every((name) => Object.hasOwn(operations, name));

const workspaceSteps = (): readonly fc.Arbitrary<Step>[] => {
  if (!hasOperations('createWorkspace', 'updateWorkspace')) return [];
  const [create, update] = ['createWorkspace', 'updateWorkspace'] as unknown as readonly [Name, Name];
  return [
    names.map((name) =>
      step(`create workspace ${name}`, async ({ workspaces }, real) => {
        const expected = workspaces.has(name) ? 'WORKSPACE_NAME_ALREADY_EXISTS' : 'ok';
        await expectCall(real, create, { name: full(real, name), connectionType: 'MULTI_DATAMART' }, expected);
        workspaces.add(name);
      }),
    ),
    names.map((name) =>
      step(`update workspace ${name}`, async ({ workspaces }, real) => {
        const expected = workspaces.has(name) ? 'ok' : 'WORKSPACE_DOES_NOT_EXIST';
        await expectCall(real, update, { name: full(real, name), connectionType: 'MULTI_DATASOURCE' }, expected);
      }),
    ),
  ];
};

/** Each sequence uses few things, so that steps meet the same ones often; one sequence uses all of them. */
const themes: readonly (readonly fc.Arbitrary<Step>[])[] = [
  [...appSteps, ...keySteps],
  [...appSteps.slice(0, 1), ...boardSteps],
  [...appSteps, ...tokenSteps],
  martSteps,
  [...appSteps, ...keySteps, ...boardSteps, ...tokenSteps, ...martSteps, ...workspaceSteps()],
];

const sequences = fc.oneof(...themes.map((steps) => fc.commands([...steps], { maxCommands: 40, size: 'max' })));

/** Runs sequences from `seed` until they have sent `count` requests. */
export const runSequences = async (
  house: House,
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<{ readonly sent: number }> => {
  let sent = 0;
  let run = 0;
  const property = fc.asyncProperty(sequences, async (commands) => {
    run += 1;
    const prefix = `seq${seed}x${run}`;
    const count = (): void => {
      sent += 1;
    };
    const setup = () => ({
      model: { apps: new Map(), marts: new Map(), workspaces: new Set<string>(), dead: new Set<string>() },
      real: { house, prefix, count },
    });
    await fc.asyncModelRun(setup, commands);
  });
  for (let round = 0; sent < count; round += 1) await fc.assert(property, { seed: seed + round, numRuns: 5 });
  return { sent };
};
