import { describe, expect, test } from 'vitest';
import type { Datamart, Tenancy } from '../../src/model/datamart/datamart.js';
import { tenantScope } from '../../src/model/datamart/tenant.js';
import { Refusal } from '../../src/model/refusal.js';

const table = (clientColumnType: 'NUMBER' | 'STRING'): Tenancy => ({
  tenancyLevel: 'TABLE',
  clientColumnType,
  schemaName: 'main',
  tableName: 'tenants',
  tableClientNameColumn: 'name',
  tablePrimaryKeyColumn: 'id',
});

const datamart = (tenancy: Tenancy | null): Datamart => ({
  id: '1',
  name: 'shop',
  datasourceId: '1',
  tenancy,
  tables: [],
  relationships: [],
  sharedTables: [],
  createdAt: new Date(0),
  updatedAt: new Date(0),
});

const codeOf = (tenancy: Tenancy | null, clientId: string): string => {
  try {
    return tenantScope(datamart(tenancy), clientId).kind;
  } catch (error) {
    return error instanceof Refusal ? error.code : 'not a refusal';
  }
};

describe('the scope of a client id', () => {
  test('a tenant under tenancy, nobody without', () => {
    expect(codeOf(table('STRING'), 'acme')).toBe('tenant');
    expect(codeOf(null, 'None')).toBe('untenanted');
  });

  test('None under tenancy, a tenant without tenancy, and no id at all are refused', () => {
    expect(codeOf(table('STRING'), 'None')).toBe('CLIENT_ID_ERROR');
    expect(codeOf(null, 'acme')).toBe('CLIENT_ID_ERROR');
    expect(codeOf(table('STRING'), '')).toBe('CLIENT_ID_ERROR');
    expect(codeOf(null, '')).toBe('CLIENT_ID_ERROR');
  });

  test.each(['01', '1e0', '1abc', '+1', ' 1', '1 ', '1.0', '-0', '0x1', '１'])(
    'the numeric id %j is not canonical and is refused',
    (clientId) => {
      expect(codeOf(table('NUMBER'), clientId)).toBe('CLIENT_ID_ERROR');
    },
  );

  test.each(['0', '1', '-7', '9007199254740993'])('the numeric id %j is canonical', (clientId) => {
    expect(codeOf(table('NUMBER'), clientId)).toBe('tenant');
  });

  test('a tenancy level that cannot be enforced yet is refused, never ignored', () => {
    expect(codeOf({ tenancyLevel: 'DATABASE', primaryDatabase: null }, 'acme')).toBe('CLIENT_ID_ERROR');
  });
});
