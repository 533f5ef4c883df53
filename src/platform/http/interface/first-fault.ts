/**
 * A variant of `z.record` that can stop at its first fault. The original checks every entry, which takes long for a
 * view's filters, which are records of records.
 */

import { z } from 'zod';
import { isRecord } from '../../../model/is-record.js';

type Context = z.core.ParseContextInternal & { readonly abortEarly?: boolean };

/**
 * Extends the schema in the way that zod documents, so that schemas derived by `refine` and similar methods also stop
 * at the first fault.
 */
const FirstFaultRecord: new (def: z.core.$ZodRecordDef) => z.ZodRecord = z.core.$constructor<
  z.ZodRecord,
  z.core.$ZodRecordDef
>('FirstFaultRecord', (schema, def) => {
  z.ZodRecord.init(schema, def);
  const { parse } = schema._zod;
  schema._zod.parse = (payload, context: Context) => {
    if (context.abortEarly !== true || !isRecord(payload.value)) return parse(payload, context);
    const entries: [string, unknown][] = [];
    for (const [name, value] of Object.entries(payload.value)) {
      const one = parse({ value: Object.fromEntries([[name, value]]), issues: [] }, context);
      // Asynchronous checks are left to zod's own parser.
      if (one instanceof Promise) return parse(payload, context);
      if (one.issues.length > 0) {
        payload.issues.push(...one.issues);
        return payload;
      }
      entries.push(...Object.entries(one.value as object));
    }
    payload.value = Object.fromEntries(entries);
    return payload;
  };
});

/** As `z.record`, but can stop at the first fault. */
export const firstFaultRecord = <Name extends z.ZodString, Value extends z.ZodType>(name: Name, value: Value) =>
  new FirstFaultRecord({ type: 'record', keyType: name, valueType: value }) as unknown as z.ZodRecord<Name, Value>;
