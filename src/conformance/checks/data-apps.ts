/** 5, 6 and 7: data apps. */
import { type Check, checksOf, guards, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
import { anyRefusal, exactly, expectOk, expectRefusal, expectThat, fields, NotTried } from '../kit/expect.js';
import type { OperationId } from '../kit/operations.js';
import type { Stage } from '../kit/stage.js';

const path = '/api/v2/data-app';

const named = (name: string) => fields({ name: exactly(name) });
const make = (stage: Stage, what: string): string => stage.toMake('data app', what, stage.serviceToken);

const creation: Target = {
  operation: 'create-data-app',
  method: 'POST',
  path,
  credential: 'serviceToken',
  in: 'body',
  input: async (stage) => ({ name: make(stage, 'new') }),
};
const renaming: Target = {
  ...creation,
  operation: 'update-data-app',
  method: 'PUT',
  input: async (stage) => ({ name: stage.name('nobody'), updateName: make(stage, 'somebody') }),
};
const deletion: Target = {
  ...creation,
  operation: 'delete-data-app',
  method: 'DELETE',
  in: 'query',
  input: async (stage) => ({ name: stage.name('nobody') }),
};

const create = async (stage: Stage, what: string): Promise<string> => {
  const name = make(stage, what);
  expectOk(await sendTo(stage, creation, { name }), named(name));
  return name;
};

const wrongKind = (target: Target): Check =>
  checksOf(target.operation)('a data app API key is no service token: AUTHENTICATION_ERROR', async (stage) => {
    const answer = await sendTo(stage, target, await target.input(stage), (await stage.app()).key);
    expectRefusal(answer, anyRefusal, 'AUTHENTICATION_ERROR');
  });

const common = (target: Target, required: readonly string[]): readonly Check[] => [
  ...requires(target, required),
  ...guards(target, { statuses: anyRefusal, codes: 'AUTHENTICATION_ERROR' }),
  wrongKind(target),
];

const check = (operation: OperationId) => checksOf(operation);

const createChecks: readonly Check[] = [
  check('create-data-app')('Response: {name}', async (stage) => {
    await create(stage, 'created');
  }),
  check('create-data-app')('DATA_APP_ALREADY_EXISTS: create data app with an existing name', async (stage) => {
    const name = await create(stage, 'twice');
    expectRefusal(await sendTo(stage, creation, { name }), anyRefusal, 'DATA_APP_ALREADY_EXISTS');
  }),
  check('create-data-app')('of two simultaneous creations of one name, exactly one succeeds', async (stage) => {
    const name = make(stage, 'race');
    const answers = await Promise.all([1, 2, 3, 4].map(() => sendTo(stage, creation, { name })));
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
  check('update-data-app')('Response: {name} holding the new name', async (stage) => {
    const name = await create(stage, 'before');
    const updateName = make(stage, 'after');
    expectOk(await sendTo(stage, renaming, { name, updateName }), named(updateName));
    expectRefusal(await sendTo(stage, renaming, { name, updateName }), anyRefusal, 'DATA_APP_NOT_FOUND');
  }),
  check('update-data-app')('a data app keeps its keys when it is renamed', async (stage) => {
    const name = await create(stage, 'keyed');
    const updateName = make(stage, 'keyed2');
    const body = { dataAppName: name, name: 'key' };
    const bearer = stage.serviceToken;
    const answer = await stage.send({ method: 'POST', path: `${path}/api-tokens`, body, bearer });
    if (answer.status !== 200) throw new NotTried('needs POST /api/v2/data-app/api-tokens');
    const { key } = expectOk(answer, fields({}));
    expectOk(await sendTo(stage, renaming, { name, updateName }), named(updateName));
    const minted = await stage.send({
      method: 'POST',
      path: '/api/v2/guest-token/create',
      body: { clientId: stage.clientId, dataAppName: updateName },
      bearer: String(key),
    });
    expectOk(minted, fields({}));
  }),
  check('update-data-app')('DATA_APP_NOT_FOUND: update of an unknown data app', async (stage) => {
    expectRefusal(await sendTo(stage, renaming, await renaming.input(stage)), anyRefusal, 'DATA_APP_NOT_FOUND');
  }),
  ...refuses(renaming, [
    ['updateName', 1],
    ['name', []],
    ['noSuchField', 1],
  ]),
  ...common(renaming, ['updateName']),
];

const deleteChecks: readonly Check[] = [
  check('delete-data-app')('Response: {name}; permanent', async (stage) => {
    const name = await create(stage, 'gone');
    expectOk(await sendTo(stage, deletion, { name }), named(name));
    expectRefusal(await sendTo(stage, deletion, { name }), anyRefusal, 'DATA_APP_NOT_FOUND');
  }),
  check('delete-data-app')('its name can be taken again', async (stage) => {
    const name = await create(stage, 'again');
    expectOk(await sendTo(stage, deletion, { name }), named(name));
    expectOk(await sendTo(stage, creation, { name }), named(name));
  }),
  check('delete-data-app')('removes associated resources: its key is no longer one', async (stage) => {
    const name = await create(stage, 'emptied');
    const bearer = stage.serviceToken;
    const body = { dataAppName: name, name: 'key' };
    const answer = await stage.send({ method: 'POST', path: `${path}/api-tokens`, body, bearer });
    if (answer.status !== 200) throw new NotTried('needs POST /api/v2/data-app/api-tokens');
    const { key } = expectOk(answer, fields({}));
    expectOk(await sendTo(stage, deletion, { name }), named(name));
    const after = await stage.send({
      method: 'POST',
      path: '/api/v2/guest-token/create',
      body: { clientId: stage.clientId, dataAppName: name },
      bearer: String(key),
    });
    expectRefusal(after, 401, 'AUTHENTICATION_ERROR');
  }),
  check('delete-data-app')('DATA_APP_NOT_FOUND: delete of an unknown data app', async (stage) => {
    const input = withValue({}, 'name', stage.name('nobody'));
    expectRefusal(await sendTo(stage, deletion, input), anyRefusal, 'DATA_APP_NOT_FOUND');
  }),
  ...common(deletion, ['name']),
];

export const dataAppChecks: readonly Check[] = [...createChecks, ...updateChecks, ...deleteChecks];
