/** 8. List datamarts and 10. Delete datamart. */
import { type Check, checksOf, guards, ours, refuses, requires, sendTo, type Target } from '../kit/check.js';
import { type CheckContext, copyDatamarts } from '../kit/context.js';
import {
  anything,
  boolean,
  both,
  exactly,
  expectOk,
  expectRefusal,
  expectThat,
  fields,
  filled,
  listOf,
  nothing,
  oneOf,
  orNull,
  rowsOf,
  type Shape,
  text,
  timestamp,
  without,
} from '../kit/expect.js';
import type { Json } from '../kit/wire.js';

const path = '/api/v2/data-app/datamarts';
const legacyListPath = '/api/v2/dataApp/datamart/list';

const listing: Target = {
  operation: 'list-datamarts',
  method: 'GET',
  path,
  credential: 'serviceToken',
  in: 'query',
  input: async () => ({}),
};
const legacyListing: Target = { ...listing, method: 'POST', path: legacyListPath, in: 'body' };

/** The specification says strings; the fields are null in a datamart without tenancy. */
const organization = fields({
  tenancyLevel: filled,
  schemaName: orNull(text),
  tableName: orNull(text),
  clientColumnType: orNull(text),
  tableClientNameColumn: orNull(text),
  tablePrimaryKeyColumn: orNull(text),
});
const brief = fields({
  name: filled,
  createdAt: timestamp,
  updatedAt: timestamp,
  datamartOrganization: orNull(organization),
  companyIntegration: fields({ name: filled }),
});
const column = fields({
  columnName: filled,
  datatype: text,
  alias: text,
  label: text,
  isHide: boolean,
  isCustomColumn: boolean,
  sql: text,
  isApplyTimezone: boolean,
});
const table = fields({
  schemaName: text,
  tableName: filled,
  label: text,
  clientColumn: orNull(text),
  isHide: boolean,
  datamartTableColumns: listOf(column),
});
const relationship = fields({
  parentTableName: text,
  parentColumnName: text,
  childTableName: text,
  childColumnName: text,
  relationshipName: text,
  cardinality: oneOf('ManyToMany', 'ManyToOne', 'OneToMany', 'OneToOne', null),
  join: oneOf('INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', null),
});
const full = both(brief, fields({ datamartTables: listOf(table), datamartRelationships: listOf(relationship) }));
const collapsed = both(brief, without('datamartTables', 'datamartRelationships'));

const page = (item: Shape) => fields({ data: listOf(item), error: nothing });

const namesOf = (body: Json): readonly string[] => rowsOf(body).map(({ name }) => String(name));

const list = async (context: CheckContext, query: Json, item: Shape = brief, target: Target = listing) =>
  expectOk(await sendTo(context, target, query), page(item));

/** Creates enough datamarts for a second page. */
const fillPage = async (context: CheckContext): Promise<void> => {
  const there = namesOf(await list(context, { expandDetails: 'false' }));
  const missing = Math.max(0, 11 - there.length);
  await copyDatamarts(
    context,
    Array.from({ length: missing }, (_, index) => `page${index}`),
  );
};

const check = checksOf('list-datamarts');

const details: readonly Check[] = [
  check('expandDetails true when omitted: tables and relationships are included', async (context) => {
    await list(context, {}, full);
  }),
  check('the string true includes datamartTables and datamartRelationships', async (context) => {
    await list(context, { expandDetails: 'true' }, full);
  }),
  check('the string false omits them; the other fields remain', async (context) => {
    await list(context, { expandDetails: 'false' }, collapsed);
  }),
  check('legacy POST /api/v2/dataApp/datamart/list takes the same fields as JSON booleans', async (context) => {
    await list(context, { expandDetails: false }, collapsed, legacyListing);
    await list(context, { expandDetails: true }, full, legacyListing);
  }),
  check('the legacy path /api/v2/dataApp/datamarts works', async (context) => {
    await list(context, {}, full, { ...listing, path: '/api/v2/dataApp/datamarts' });
  }),
];

const paging: readonly Check[] = [
  check('isPagination true: 10 items per page', async (context) => {
    await fillPage(context);
    const first = namesOf(await list(context, { isPagination: 'true' }));
    expectThat(first.length === 10, `a page has ${first.length} items`);
  }),
  check('pageNumber is 1-based: the pages together are the whole listing, without repetition', async (context) => {
    await fillPage(context);
    const all = namesOf(await list(context, {}));
    const pages: string[] = [];
    for (let number = 1; number <= Math.ceil(all.length / 10); number += 1) {
      pages.push(...namesOf(await list(context, { isPagination: 'true', pageNumber: String(number) })));
    }
    expectThat(pages.join('\n') === all.join('\n'), 'the pages are not the listing');
  }),
  check('a page beyond the last is empty', async (context) => {
    const beyond = namesOf(await list(context, { isPagination: 'true', pageNumber: '9999' }));
    expectThat(beyond.length === 0, `it has ${beyond.length} items`);
  }),
  ...['false', 'yes', '1', 'TRUE'].map((isPagination) =>
    check(`any other value disables pagination: ${isPagination}`, async (context) => {
      const all = namesOf(await list(context, {}));
      const given = namesOf(await list(context, { isPagination, pageNumber: '2' }));
      expectThat(given.join('\n') === all.join('\n'), 'it is not the whole listing');
    }),
  ),
  check('legacy: isPagination and pageNumber as boolean and number', async (context) => {
    const page1 = namesOf(await list(context, { isPagination: true, pageNumber: 1 }, brief, legacyListing));
    expectThat(page1.length <= 10, `a page has ${page1.length} items`);
  }),
];

const deletion: Target = {
  operation: 'delete-datamart',
  method: 'POST',
  path: '/api/v2/dataApp/datamart/delete',
  credential: 'serviceToken',
  in: 'body',
  input: async (context) => ({ datamartName: context.name('nothing') }),
};

const remove = checksOf('delete-datamart');

const removes = (sentence: string, what: string, way: Target): Check =>
  remove(`${sentence}: Response 200: {id: datamart name, error: null}`, async (context) => {
    await copyDatamarts(context, [what]);
    const datamartName = context.name(what);
    expectOk(await sendTo(context, way, { datamartName }), fields({ id: exactly(datamartName), error: nothing }));
    const left = namesOf(await list(context, { expandDetails: 'false' }));
    expectThat(!left.includes(datamartName), 'it is still listed');
    expectRefusal(await sendTo(context, way, { datamartName }), 400, 'INVALID_REQUEST_BODY');
  });

const credentialCodes = ['AUTHENTICATION_ERROR', 'INVALID_DATA_APP_API_KEY', 'INVALID_SERVICE_TOKEN'];

export const datamartChecks: readonly Check[] = [
  check('Response 200: {data: array of datamart, error: null}', async (context) => {
    await list(context, {}, fields({ name: anything }));
  }),
  ...details,
  ...paging,
  ...refuses(legacyListing, [
    ['isPagination', 'true'],
    ['pageNumber', '1'],
    ['expandDetails', 'no'],
    ['noSuchField', 1],
  ]),
  ...guards(listing, { statuses: [400, 401], codes: ['INVALID_DATA_APP_API_KEY', 'AUTHENTICATION_ERROR'] }),
  ...guards(listing, { statuses: 400, codes: 'INVALID_DATA_APP_API_KEY' }).map(ours),
  removes('POST to the legacy path', 'gone1', deletion),
  removes('DELETE with a body', 'gone2', { ...deletion, method: 'DELETE', path: '/api/v2/data-app/datamart' }),
  remove('unknown datamart: 400 INVALID_REQUEST_BODY', async (context) => {
    expectRefusal(await sendTo(context, deletion, await deletion.input(context)), 400, 'INVALID_REQUEST_BODY');
  }),
  ...requires(deletion, ['datamartName']),
  ...refuses(deletion, [
    ['datamartName', 1],
    ['noSuchField', 1],
  ]),
  ...guards(deletion, { statuses: [400, 401, 403], codes: credentialCodes }),
];
