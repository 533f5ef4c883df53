/** What the errors of each database mean: what passes, what is the author's, and what the datasource's settings cause. */
import { expect, it } from 'vitest';
import type { DriverFault, FaultOf } from '../../src/engine/connections/driver-faults.js';
import { faultOf as clickHouse } from '../../src/engine/databases/clickhouse/faults.js';
import { faultOf as duckDb } from '../../src/engine/databases/duckdb/faults.js';
import { faultOf as mysql } from '../../src/engine/databases/mysql/faults.js';
import { faultOf as postgres } from '../../src/engine/databases/postgres/faults.js';

const withCode = (code: string | number, fields: object = {}) => Object.assign(new Error('told'), { code, ...fields });
const ofMysql = (code: string, errno: number) => withCode(code, { errno, sqlState: 'HY000' });

type Row = readonly [name: string, of: FaultOf, cause: unknown, fault: DriverFault | undefined];
const rows: readonly Row[] = [
  ...['53300', '53200', '53100', '40001', '55P03'].map((code): Row => [code, postgres, withCode(code), 'busy']),
  ...['57P01', '57P03', '08006', '08P01', 'ECONNRESET'].map((code): Row => [code, postgres, withCode(code), 'lost']),
  ['57014', postgres, withCode('57014'), 'late'],
  ['42703', postgres, withCode('42703'), 'names'],
  ['28P01', postgres, withCode('28P01'), 'credentials'],
  ['a damaged record of TLS', mysql, withCode('EPROTO'), 'tls'],
  ['an answer without TLS', clickHouse, withCode('ERR_SSL_WRONG_VERSION_NUMBER'), 'tls'],
  ['a server without TLS', postgres, withCode('ERR_TLS_REFUSED'), 'encryption'],
  ['a division by zero', postgres, withCode('22012'), undefined],
  ['too many for a temporary file', postgres, withCode('53400'), undefined],
  ['too many connections', mysql, ofMysql('ER_CON_COUNT_ERROR', 1040), 'busy'],
  ['too many of the user', mysql, ofMysql('ER_TOO_MANY_USER_CONNECTIONS', 1203), 'busy'],
  ['too many of the hour', mysql, ofMysql('ER_USER_LIMIT_REACHED', 1226), 'busy'],
  ['a shutdown', mysql, ofMysql('ER_SERVER_SHUTDOWN', 1053), 'lost'],
  ['a time limit', mysql, ofMysql('ER_STATEMENT_TIMEOUT', 1969), 'late'],
  ['an unknown column', mysql, ofMysql('ER_BAD_FIELD_ERROR', 1054), 'names'],
  ['a wrong password', mysql, ofMysql('ER_ACCESS_DENIED_ERROR', 1045), 'credentials'],
  ['a value out of range', mysql, ofMysql('ER_DATA_OUT_OF_RANGE', 1690), undefined],
  ...['202', '209', '210', '241'].map((code): Row => [code, clickHouse, withCode(code), 'busy']),
  ['159', clickHouse, withCode('159'), 'late'],
  ['no HTTP', clickHouse, withCode('HPE_INVALID_CONSTANT'), 'lost'],
  ['47', clickHouse, withCode('47'), 'names'],
  ['516', clickHouse, withCode('516'), 'credentials'],
  ['a certificate', clickHouse, withCode('CERT_HAS_EXPIRED'), 'encryption'],
  ['a division by zero', clickHouse, withCode('153'), undefined],
  ['a type that does not fit', duckDb, new Error('Binder Error: no function matches'), 'statement'],
  ['an unknown column', duckDb, new Error('Binder Error: Referenced column "x" not found'), 'names'],
  ['a conversion', duckDb, new Error('Conversion Error: no number'), undefined],
];

it.each(rows)('an error of a driver is told apart by its code: %s', (_, faultOf, cause, fault) => {
  expect(faultOf(cause)).toBe(fault);
});
