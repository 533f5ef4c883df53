// Prints the types of the OpenAPI document that is named, as openapi-typescript writes them. That tool wants the compiler's older
// interface, which TypeScript 7 no longer has; @ts-morph/common carries it, and stands in for `typescript` here.
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';

const shim = `data:text/javascript,${encodeURIComponent(
  `import { createRequire } from 'node:module';
   export default createRequire(${JSON.stringify(import.meta.url)})('@ts-morph/common').ts;`,
)}`;
const hook = `export const resolve = (specifier, context, next) =>
  specifier === 'typescript' ? { url: ${JSON.stringify(shim)}, shortCircuit: true } : next(specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

const { default: openapiTS, astToString } = await import('openapi-typescript');
const [, , document] = process.argv;
process.stdout.write(astToString(await openapiTS(pathToFileURL(document))));
