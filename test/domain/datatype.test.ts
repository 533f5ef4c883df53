import { expect, test } from 'vitest';
import { type DatatypeKind, datatypeKind } from '../../src/domain/datatype.js';

test.each<[DatatypeKind, readonly string[]]>([
  [
    'integer',
    [
      'BIGINT',
      'integer',
      'int',
      'int(11)',
      'bigint(20) unsigned',
      'tinyint(4)',
      'SMALLINT',
      'UBIGINT',
      'HUGEINT',
      'UINTEGER',
      'int8',
      'mediumint(8) unsigned zerofill',
      'year(4)',
    ],
  ],
  [
    'number',
    [
      'DOUBLE',
      'double precision',
      'DECIMAL(18,2)',
      'numeric(10, 2)',
      'real',
      'FLOAT',
      'decimal(5,2) unsigned',
      'money',
    ],
  ],
  [
    'text',
    [
      'VARCHAR',
      'varchar(255)',
      'character varying',
      'character varying(20)',
      'text',
      'longtext',
      'char(3)',
      'citext',
      'name',
    ],
  ],
  ['enum', ["ENUM('a', 'b')", "enum('x(1)','y')", "set('a')"]],
  ['uuid', ['UUID', 'uuid']],
  ['boolean', ['BOOLEAN', 'bool', 'tinyint(1)']],
  [
    'date',
    [
      'DATE',
      'TIMESTAMP',
      'timestamp without time zone',
      'timestamp(3) with time zone',
      'TIMESTAMP WITH TIME ZONE',
      'datetime(6)',
      'TIMESTAMP_MS',
    ],
  ],
  ['json', ['JSON', 'jsonb']],
  [
    'other',
    [
      'INTEGER[]',
      'VARCHAR[3]',
      'STRUCT(a INTEGER)',
      'MAP(VARCHAR, INTEGER)',
      'interval',
      'BLOB',
      'time',
      'bytea',
      'point',
      '',
      'date_of',
      'DECIMAL(18,2)[]',
    ],
  ],
])('%s: %j', (kind, datatypes) => {
  expect(datatypes.map((datatype) => [datatype, datatypeKind(datatype)])).toEqual(
    datatypes.map((datatype) => [datatype, kind]),
  );
});
