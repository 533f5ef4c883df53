/** The parts of a command's answer: a schema of the JSON that callers read, from which the types of both ends follow. */
import { z } from 'zod';

/** A moment. A function may answer it as a Date; JSON has its ISO 8601 text. */
export const moment = z.union([z.iso.datetime(), z.date().transform((date) => date.toISOString())]);

/** A value as JSON has it: a moment is its ISO 8601 text. */
type Written<T> = T extends Date ? string : T extends object ? { readonly [Key in keyof T]: Written<T[Key]> } : T;

/** A value whose type is stated elsewhere, such as a domain type. The compiler checks it, and nothing at run time does. */
export const written = <T>(): z.ZodType<Written<T>, T> => z.custom<T>() as unknown as z.ZodType<Written<T>, T>;
