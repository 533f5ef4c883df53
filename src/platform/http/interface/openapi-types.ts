/** The parts of OpenAPI 3.1 that the document uses. */
import type { Credential } from './operation.js';

export type JsonSchema = { readonly [keyword: string]: unknown };

export type OpenApiParameter = {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
};
export type OpenApiMedia = {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  /** For a form: the media types of the parts that are not text. */
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>;
};
export type OpenApiContent = Readonly<Record<string, OpenApiMedia>>;
export type OpenApiResponse = {
  readonly description: string;
  /** Left out: the answer has no body. */
  readonly content?: OpenApiContent;
  readonly headers?: Readonly<Record<string, { readonly schema: JsonSchema; readonly description: string }>>;
};
export type OpenApiOperation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: true;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: { readonly required: true; readonly content: OpenApiContent };
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
  /** The operation's name, which all its bindings share. */
  readonly 'x-operation': string;
};
export type OpenApiDocument = {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<Record<Credential, JsonSchema>>;
  };
};
