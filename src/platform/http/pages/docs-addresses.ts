/** Where each part of the reference is served. The search of the documentation leads there too. */
import { slug } from '../wire/html.js';

export const overviewPath = '/docs/api';

/** The path of the page of a resource. */
export const resourcePath = (resource: string): string => `${overviewPath}/${slug(resource)}`;

/** The path of the page of a shared object. */
export const objectPath = (name: string): string => `${overviewPath}/objects/${slug(name)}`;

/** The address of an operation in the reference. */
export const operationAddress = ({ resource, name }: { readonly resource: string; readonly name: string }): string =>
  `${resourcePath(resource)}#${slug(name)}`;
