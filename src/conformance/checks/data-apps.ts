/** 5, 6 and 7: data apps. */
import { type Check, checksOf, guards, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
import type { CheckContext } from '../kit/context.js';
import { anyRefusal, exactly, expectOk, expectRefusal, expectThat, fields, NotTried } from '../kit/expect.js';
import type { OperationId } from '../kit/operations.js';

const path = '/api/v2/data-app';

const named = (name: string) => fields({ name: exactly(name) });
const make = (context: CheckContext, what: string): string => context.toMake('data app', what, context.serviceToken);

const creation: Target = {
  operation: 'create-data-app',
  method: 'POST',
  path,
  credential: 'serviceToken',
  in: 'body',
  input: async (context) => ({ name: make(context, 'new') }),
};
const renaming: Target = {
  ...creation,
  operation: 'update-data-app',
  method: 'PUT',
  input: async (context) => ({ name: context.name('nobody'), updateName: make(context, 'somebody') }),
};
const deletion: Target = {
  ...creation,
  operation: 'delete-data-app',
  method: 'DELETE',
  in: 'query',
  input: async (context) => ({ name: context.name('nobody') }),
};

const create = async (context: CheckContext, what: string): Promise<string> => {
  const name = make(context, what);
  expectOk(await sendTo(context, creation, { name }), named(name));
  return name;
};

const wrongKind = (target: Target): Check =>
  checksOf(target.operation)('a data app API key is no service token: AUTHENTICATION_ERROR', async (context) => {
    const answer = await sendTo(context, target, await target.input(context), (await context.app()).key);
    expectRefusal(answer, anyRefusal, 'AUTHENTICATION_ERROR');
  });

const common = (target: Target, required: readonly string[]): readonly Check[] => [
  ...requires(target, required),
  ...guards(target, { statuses: anyRefusal, codes: 'AUTHENTICATION_ERROR' }),
  wrongKind(target),
];

const check = (operation: OperationId) => checksOf(operation);

/** The results once all have ended: a creation that is under way when its check fails would outlive the cleaning. */
const allEnded = async <T>(works: readonly Promise<T>[]): Promise<readonly T[]> => {
  await Promise.allSettled(works);
  return Promise.all(works);
};

const createChecks: readonly Check[] = [
  check('create-data-app')('Response: {name}', async (context) => {
    await create(context, 'created');
  }),
  check('create-data-app')('DATA_APP_ALREADY_EXISTS: create data app with an existing name', async (context) => {
    const name = await create(context, 'twice');
    expectRefusal(await sendTo(context, creation, { name }), anyRefusal, 'DATA_APP_ALREADY_EXISTS');
  }),
  check('create-data-app')('of two simultaneous creations of one name, exactly one succeeds', async (context) => {
    const name = make(context, 'race');
    const answers = await allEnded([1, 2, 3, 4].map(() => sendTo(context, creation, { name })));
    const made = answers.filter(({ status }) => status === 200).length;
    expectThat(made === 1, `${made} of 4 creations succeeded`);
  }),
  ...refuses(creation, [
    ['name', 1],
    ['name', null],
    ['name', ''],
    ['noSuchField', 1],
  ]),
  ...common(creation, ['name']),
];

const updateChecks: readonly Check[] = [
  check('update-data-app')('Response: {name} holding the new name', async (context) => {
    const name = await create(context, 'before');
    const updateName = make(context, 'after');
    expectOk(await sendTo(context, renaming, { name, updateName }), named(updateName));
    expectRefusal(await sendTo(context, renaming, { name, updateName }), anyRefusal, 'DATA_APP_NOT_FOUND');
  }),
  check('update-data-app')('a data app keeps its keys when it is renamed', async (context) => {
    const name = await create(context, 'keyed');
    const updateName = make(context, 'keyed2');
    const body = { dataAppName: name, name: 'key' };
    const bearer = context.serviceToken;
    const answer = await context.send({ method: 'POST', path: `${path}/api-tokens`, body, bearer });
    if (answer.status !== 200) throw new NotTried('needs POST /api/v2/data-app/api-tokens');
    const { key } = expectOk(answer, fields({}));
    expectOk(await sendTo(context, renaming, { name, updateName }), named(updateName));
    const minted = await context.send({
      method: 'POST',
      path: '/api/v2/guest-token/create',
      body: { clientId: context.clientId, dataAppName: updateName },
      bearer: String(key),
    });
    expectOk(minted, fields({}));
  }),
  check('update-data-app')('DATA_APP_NOT_FOUND: update of an unknown data app', async (context) => {
    expectRefusal(await sendTo(context, renaming, await renaming.input(context)), anyRefusal, 'DATA_APP_NOT_FOUND');
  }),
  ...refuses(renaming, [
    ['updateName', 1],
    ['name', []],
    ['noSuchField', 1],
  ]),
  ...common(renaming, ['updateName']),
];

const deleteChecks: readonly Check[] = [
  check('delete-data-app')('Response: {name}; permanent', async (context) => {
    const name = await create(context, 'gone');
    expectOk(await sendTo(context, deletion, { name }), named(name));
    expectRefusal(await sendTo(context, deletion, { name }), anyRefusal, 'DATA_APP_NOT_FOUND');
  }),
  check('delete-data-app')('its name can be taken again', async (context) => {
    const name = await create(context, 'again');
    expectOk(await sendTo(context, deletion, { name }), named(name));
    expectOk(await sendTo(context, creation, { name }), named(name));
  }),
  check('delete-data-app')('removes associated resources: its key is no longer one', async (context) => {
    const name = await create(context, 'emptied');
    const bearer = context.serviceToken;
    const body = { dataAppName: name, name: 'key' };
    const answer = await context.send({ method: 'POST', path: `${path}/api-tokens`, body, bearer });
    if (answer.status !== 200) throw new NotTried('needs POST /api/v2/data-app/api-tokens');
    const { key } = expectOk(answer, fields({}));
    expectOk(await sendTo(context, deletion, { name }), named(name));
    const after = await context.send({
      method: 'POST',
      path: '/api/v2/guest-token/create',
      body: { clientId: context.clientId, dataAppName: name },
      bearer: String(key),
    });
    expectRefusal(after, 401, 'AUTHENTICATION_ERROR');
  }),
  check('delete-data-app')('DATA_APP_NOT_FOUND: delete of an unknown data app', async (context) => {
    const input = withValue({}, 'name', context.name('nobody'));
    expectRefusal(await sendTo(context, deletion, input), anyRefusal, 'DATA_APP_NOT_FOUND');
  }),
  ...common(deletion, ['name']),
];

export const dataAppChecks: readonly Check[] = [...createChecks, ...updateChecks, ...deleteChecks];
