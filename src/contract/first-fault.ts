/** A record that stops at its first fault, where only that is wanted: zod's own looks at every entry, and a view's filters are records of records. */
import { z } from 'zod';

type Context = z.core.ParseContextInternal & { readonly abortEarly?: boolean };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** By zod's own way to extend a schema: what `refine` and others make of it stops, too. */
const FirstFaultRecord: new (def: z.core.$ZodRecordDef) => z.ZodRecord = z.core.$constructor<
  z.ZodRecord,
  z.core.$ZodRecordDef
>('FirstFaultRecord', (schema, def) => {
  z.ZodRecord.init(schema, def);
  const { parse } = schema._zod;
  schema._zod.parse = (payload, context: Context) => {
    if (context.abortEarly !== true || !isObject(payload.value)) return parse(payload, context);
    const entries: [string, unknown][] = [];
    for (const [name, value] of Object.entries(payload.value)) {
      const one = parse({ value: Object.fromEntries([[name, value]]), issues: [] }, context);
      // What waits for a promise is left to zod.
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

/** As `z.record`. */
export const firstFaultRecord = <Name extends z.ZodString, Value extends z.ZodType>(name: Name, value: Value) =>
  new FirstFaultRecord({ type: 'record', keyType: name, valueType: value }) as unknown as z.ZodRecord<Name, Value>;
