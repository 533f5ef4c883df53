/** Tables read through a bridge, and base filters: what a write accepts, whose the rows are, and what is proposed. */
import { describe, expect, it } from 'vitest';
import { changeParts, type DatamartChanges, noParts } from '../../src/model/datamart/changes.js';
import type { Cardinality, Datamart } from '../../src/model/datamart/datamart.js';
import { proposeFor } from '../../src/model/datamart/source-proposals.js';
import type { SourceColumn, SourceTable } from '../../src/model/datamart/source-schema.js';
import { describeOwnership, tableOwnerships } from '../../src/model/datamart/table-ownership.js';
import { type TableDraft, viewSource } from '../../src/model/datamart/tables.js';
import { assertNoFaults } from '../../src/model/faults.js';
import { baseFilterFaults } from '../../src/model/query/base-filters.js';
import { Refusal } from '../../src/model/refusal.js';

const column = (columnName: string, datatype: string, kind: SourceColumn['kind'], isNullable = true): SourceColumn => ({
  ...{ columnName, datatype, kind, isNullable },
});
const sourceTable = (tableName: string, columns: readonly SourceColumn[], parts: Partial<SourceTable> = {}) => ({
  ...{ schemaName: 'app', tableName, columns, primaryKey: ['id'], uniqueKeys: [], foreignKeys: [] },
  ...parts,
});
const keyTo = (name: string, tableName: string) => ({
  columns: [name],
  references: { schemaName: 'app', tableName },
  referencedColumns: ['id'],
});
const id = column('id', 'bigint', 'integer', false);
const schema: readonly SourceTable[] = [
  sourceTable('organizations', [id, column('name', 'text', 'text'), column('owner_id', 'bigint', 'integer')]),
  sourceTable('users', [
    id,
    column('full_name', 'text', 'text'),
    column('email', 'text', 'text'),
    column('phone_number', 'text', 'text'),
    column('password_digest', 'text', 'text'),
    column('home_org', 'bigint', 'integer'),
    column('deleted_at', 'timestamp', 'date'),
    column('is_test', 'boolean', 'boolean', false),
    column('archived', 'boolean', 'boolean'),
  ]),
  sourceTable(
    'memberships',
    [id, column('user_id', 'bigint', 'integer', false), column('organization_id', 'bigint', 'integer', false)],
    {
      uniqueKeys: [['organization_id', 'user_id']],
      foreignKeys: [keyTo('user_id', 'users'), keyTo('organization_id', 'organizations')],
    },
  ),
  sourceTable(
    'tasks',
    [
      id,
      column('organization_id', 'bigint', 'integer'),
      column('assignee_id', 'bigint', 'integer'),
      column('removed_at', 'timestamp', 'date', false),
    ],
    { foreignKeys: [keyTo('assignee_id', 'users'), keyTo('organization_id', 'organizations')] },
  ),
  sourceTable('logins', [id, column('user_id', 'bigint', 'integer')], { foreignKeys: [keyTo('user_id', 'users')] }),
];
const source = viewSource({ id: 'd', name: 'd', syncedAt: null, datasourceType: 'DUCKDB', path: 'x' }, schema);
const keys = ({ tableName }: { readonly tableName: string }) =>
  schema.flatMap((one) => (one.tableName === tableName ? [one.primaryKey, ...one.uniqueKeys] : []));

const listed = (name: string, parts: Partial<TableDraft> = {}): TableDraft => ({
  ...{ name, schemaName: 'app' },
  columns: schema.find(({ tableName }) => tableName === name)?.columns.map((one) => ({ name: one.columnName })) ?? [],
  ...parts,
});
const link = (path: string, cardinality: Cardinality | null = 'ManyToOne') => {
  const [parent = '', child = ''] = path.split('>');
  const [parentTableName = '', parentColumnName = ''] = parent.split('.');
  const [childTableName = '', childColumnName = ''] = child.split('.');
  return { parentTableName, parentColumnName, childTableName, childColumnName, relationshipName: path, cardinality };
};
const bridge = 'memberships.user_id>users.id';
const through = { relationship: bridge, columns: ['id', 'full_name'] };
const changesOf = (users: Partial<TableDraft>, parts: Partial<DatamartChanges> = {}): DatamartChanges => ({
  tableList: [
    listed('organizations'),
    listed('users', users),
    listed('memberships', { clientColumn: 'organization_id' }),
    listed('tasks', { clientColumn: 'organization_id' }),
    listed('logins'),
  ],
  tenancySettings: {
    ...{ tenancyLevel: 'TABLE', clientColumnType: 'NUMBER', schemaName: 'app', tableName: 'organizations' },
    ...{ tableClientNameColumn: 'name', tablePrimaryKeyColumn: 'id' },
  },
  relationships: [
    link(bridge),
    link('tasks.assignee_id>users.id'),
    link('logins.user_id>users.id'),
    link('organizations.owner_id>users.id'),
    link('users.home_org>organizations.id'),
    link('users.id>logins.user_id', 'OneToMany'),
  ],
  ...parts,
});
const martOf = (changes: DatamartChanges): Datamart => ({
  ...changeParts(noParts, changes, source),
  ...{ id: 'm', name: 'm', datasourceId: 'd', createdAt: new Date(0), updatedAt: new Date(0) },
});
const faultOf = (changes: DatamartChanges): string => {
  try {
    const { tables } = changeParts(noParts, changes, source);
    assertNoFaults(baseFilterFaults(tables, source), 'datamart-faulty');
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
  throw new Error('the write was accepted');
};
const ownershipsOf = (changes: DatamartChanges) => tableOwnerships(martOf(changes), keys).map(describeOwnership);
const ownershipOf = (changes: DatamartChanges, table: string) =>
  ownershipsOf(changes).find((one) => one.table === `app.${table}`);

describe('whose the rows of a bridged table are', () => {
  it('a users table belongs to the tenants of its memberships', () => {
    expect(ownershipOf(changesOf({ through }), 'users')).toMatchObject({
      kind: 'bridge',
      clientColumn: { table: 'app.memberships', column: 'organization_id' },
      path: [{ fromTable: 'app.users', fromColumn: 'id', toTable: 'app.memberships', toColumn: 'user_id' }],
    });
  });

  it('the table of tenants itself can be the bridge', () => {
    const owners = { relationship: 'organizations.owner_id>users.id', columns: ['id'] };
    expect(ownershipOf(changesOf({ through: owners }), 'users')).toMatchObject({
      kind: 'bridge',
      clientColumn: { table: 'app.organizations', column: 'id' },
    });
  });

  it('a table whose only way leads to the bridged table stays unreadable, with the reason', () => {
    const logins = ownershipOf(changesOf({ through }), 'logins');
    expect(logins).toMatchObject({ kind: 'unreadable', reason: 'belongs-to-several' });
    expect(logins?.message).toContain('leads to app.users, whose rows belong to several clients');
  });

  it('a bridge without a tenant of its own makes nothing readable', () => {
    const byLogins = { relationship: 'logins.user_id>users.id', columns: ['id'] };
    expect(ownershipOf(changesOf({ through: byLogins }), 'users')).toMatchObject({
      kind: 'unreadable',
      reason: 'through-unowned',
    });
    const shared = changesOf({ through: byLogins }, { sharedTables: ['app.logins'] });
    expect(ownershipOf(shared, 'users')).toMatchObject({ reason: 'through-unowned' });
  });

  it('a key of people that is unique only within one tenant is refused', () => {
    const composite = (table: { readonly tableName: string }) =>
      table.tableName === 'users' ? [['home_org', 'id']] : keys(table);
    const mart = martOf(changesOf({ through }));
    const users = tableOwnerships(mart, composite).find(({ table }) => table.tableName === 'users');
    expect(users?.tenancy).toMatchObject({ kind: 'unreadable', reason: 'key-within-client' });
  });

  it('the message of an unreadable table names the bridge that could be used', () => {
    const relationships = [link(bridge), link('tasks.assignee_id>users.id')];
    const users = ownershipOf(changesOf({}, { relationships }), 'users');
    expect(users?.reason).toBe('no-owner');
    expect(users?.message).toContain(`set through to relationship ${bridge}`);
  });
});

describe('what a write of a datamart refuses', () => {
  it.each<readonly [string, Partial<TableDraft>, string]>([
    ['an unknown relationship', { through: { ...through, relationship: 'x' } }, 'tableList[1].through.relationship'],
    [
      'a relationship of other tables',
      { through: { ...through, relationship: 'tasks.organization_id>organizations.id' } },
      'a relationshipName of table "users" and the bridge',
    ],
    [
      'a relationship in the wrong direction',
      { through: { ...through, relationship: 'users.home_org>organizations.id' } },
      'many-to-one from the bridge to table "users"; it is ManyToOne from "users" to "organizations"',
    ],
    ['an unknown column', { through: { ...through, columns: ['id', 'nickname'] } }, 'tableList[1].through.columns[1]'],
    ['a column named twice', { through: { ...through, columns: ['id', 'id'] } }, 'not in the list yet'],
    [
      'a custom column that reads an unlisted one',
      {
        through: { ...through, columns: ['id', 'domain'] },
        columns: [
          ...listed('users').columns,
          { name: 'domain', isCustomColumn: true, sql: "split_part(email, '@', 2)" },
        ],
      },
      'no custom column that reads "email", or "email" in the list too',
    ],
    ['a client column beside it', { through, clientColumn: 'home_org' }, 'none, because of clientColumn "home_org"'],
    [
      'a tenancyPath beside it',
      { through, tenancyPath: 'users.home_org>organizations.id' },
      'none, because of tenancyPath',
    ],
    [
      'a base filter on an unknown column',
      { baseFilters: [{ columnName: 'deleted', predicate: { kind: 'isNull' } }] },
      'tableList[1].baseFilters[0].columnName: got string "deleted", expected a column of table "users"',
    ],
    [
      'a base filter with a value of another type',
      { baseFilters: [{ columnName: 'is_test', predicate: { kind: 'compare', operator: '=', value: 'no' } }] },
      'tableList[1].baseFilters[0].predicate: column "is_test" holds booleans (boolean), so each value must be true or false',
    ],
    [
      'a base filter with a pattern on dates',
      { baseFilters: [{ columnName: 'deleted_at', predicate: { kind: 'like', pattern: '2024%' } }] },
      'tableList[1].baseFilters[0].predicate',
    ],
  ])('a write refuses %s', (_, users, message) => {
    const columns = users.through?.relationship.startsWith('tasks.organization') ? ['organization_id'] : [];
    const extra = columns.map((name) => link(`tasks.${name}>organizations.id`));
    const changes = changesOf(users);
    expect(faultOf({ ...changes, relationships: [...(changes.relationships ?? []), ...extra] })).toContain(message);
  });

  it('a shared table, and a datamart without levels of tables, have no bridge', () => {
    expect(faultOf(changesOf({ through }, { sharedTables: ['users'] }))).toContain('of sharedTables');
    const level = { tenancyLevel: 'DATABASE' as const };
    expect(faultOf(changesOf({ through }, { tenancySettings: level }))).toContain('a tenancyLevel that is not TABLE');
  });

  it('a change of the relationships that takes the bridge away', () => {
    const stored = changeParts(noParts, changesOf({ through }), source);
    expect(() => changeParts(stored, { relationships: [] }, source)).toThrow(
      /through of table "users".relationship: got string/,
    );
  });
});

describe('what is proposed for a usual schema', () => {
  const proposals = proposeFor(schema);

  it('people are readable through the table that pairs them with tenants, by key and name', () => {
    expect(proposals.bridges).toEqual([
      {
        ...{ schemaName: 'app', tableName: 'users' },
        through: { relationship: 'memberships.user_id', columns: ['id', 'full_name'] },
        bridge: { schemaName: 'app', tableName: 'memberships' },
        askedColumns: ['email', 'phone_number'],
        reason: 'rows of users belong to several tenants by memberships (each row pairs one with organizations)',
      },
    ]);
  });

  it('a table that merely refers to people and tenants is no bridge', () => {
    expect(proposeFor(schema.filter(({ tableName }) => tableName !== 'memberships')).bridges).toEqual([]);
  });

  it('tests are left out, and what may leave out more than deleted rows is asked for', () => {
    const users = { schemaName: 'app', tableName: 'users' };
    expect(proposals.baseFilters.map(({ reason: _, ...proposed }) => proposed)).toEqual([
      { ...users, isCertain: false, filter: { columnName: 'deleted_at', predicate: { kind: 'isNull' } } },
      {
        ...{ ...users, isCertain: true },
        filter: { columnName: 'is_test', predicate: { kind: 'compare', operator: '=', value: false } },
      },
      {
        ...{ ...users, isCertain: false },
        filter: { columnName: 'archived', predicate: { kind: 'compare', operator: '=', value: false } },
      },
    ]);
  });

  it('deleted people and names stay where rows of other tables are called by them, and deleted facts are left out', () => {
    const gone = column('deleted_at', 'timestamp', 'date');
    const thing = (name: string, text: string, references: readonly string[] = []): SourceTable =>
      sourceTable(
        name,
        [id, column(text, 'text', 'text'), gone, ...references.map((to) => column(`${to}_id`, 'bigint', 'integer'))],
        { foreignKeys: references.map((to) => keyTo(`${to}_id`, to)) },
      );
    const found = proposeFor([
      ...[thing('vets', 'name'), thing('animals', 'name'), thing('rooms', 'name')],
      ...[thing('visits', 'title', ['vets', 'animals']), thing('notes', 'text', ['visits'])],
      sourceTable('memberships', [id, column('rooms_id', 'bigint', 'integer')], {
        foreignKeys: [keyTo('rooms_id', 'rooms')],
      }),
    ]).baseFilters;
    expect(found.map(({ tableName, isCertain }) => [tableName, isCertain])).toEqual([
      ...[
        ['vets', false],
        ['animals', false],
      ],
      ...['rooms', 'visits', 'notes'].map((name) => [name, true]),
    ]);
    expect(found[0]?.reason).toBe(
      'deleted_at is empty while a row is in use; rows of visits would lose the names of deleted vets',
    );
  });
});
