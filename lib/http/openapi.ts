/** The OpenAPI 3.1 document of a set of endpoints, made from their declarations alone. */
import * as z from 'zod';
import { aboutSubject, mayBeAnonymous } from './access.ts';
import type { Endpoint } from './endpoint.ts';
import { factsOf, type JsonSchema, jsonSchemaOf } from './field-facts.ts';
import type {
  DocumentInfo,
  OpenApiDocument,
  Operation,
  Parameter,
  ResponseObject,
} from './openapi-document.ts';
import { exampleBody, withExamples } from './openapi-examples.ts';
import { paginationParameters } from './pagination.ts';
import { API_ROOT, fromRoot } from './router.ts';

// biome-ignore lint/suspicious/noExplicitAny: endpoints of any dependencies are described alike
export function document(endpoints: readonly Endpoint<any>[], info: DocumentInfo): OpenApiDocument {
  const schemas: Record<string, JsonSchema> = { ...ERRORS };
  const paths: Record<string, Record<string, Operation>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/[:*](\w+)/g, '{$1}');
    const operation = operationOf(endpoint, schemas);
    const servers = fromRoot(endpoint.path) ? { servers: [{ url: info.serverUrl || '../..' }] } : {};
    (paths[path] ??= {})[endpoint.method.toLowerCase()] = { ...operation, ...servers };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: info.title,
      version: info.version,
      ...(info.description === undefined ? {} : { description: info.description }),
    },
    servers: [{ url: info.serverUrl + API_ROOT }],
    tags: [...new Set(endpoints.map((endpoint) => endpoint.area))].sort().map((name) => ({ name })),
    paths,
    components: { schemas, securitySchemes: SECURITY },
  };
}

const SECURITY = {
  token: {
    type: 'apiKey',
    in: 'header',
    name: 'PRIVATE-TOKEN',
    description: 'A personal, impersonation, project or group access token',
  },
  tokenParameter: {
    type: 'apiKey',
    in: 'query',
    name: 'private_token',
    description: 'The same in the URL, where logs and histories can keep it',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The same as a bearer token; for SCIM, the SCIM token of the group',
  },
};

const ERRORS = {
  Message: {
    type: 'object',
    description: 'A rule was broken',
    properties: { message: { type: ['string', 'array', 'object'] } },
    required: ['message'],
  },
  Error: {
    type: 'object',
    description: 'The request itself is wrong',
    properties: { error: { type: 'string' } },
    required: ['error'],
  },
  InvalidToken: {
    type: 'object',
    description: 'The token was revoked, or its time is over',
    properties: { error: { enum: ['invalid_token'] }, error_description: { type: 'string' } },
    required: ['error', 'error_description'],
  },
  InsufficientScope: {
    type: 'object',
    description: 'The token lacks every scope that would do',
    properties: {
      error: { enum: ['insufficient_scope'] },
      error_description: { type: 'string' },
      scope: { type: 'string' },
    },
    required: ['error', 'error_description', 'scope'],
  },
} satisfies Record<string, JsonSchema>;

const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

// biome-ignore lint/suspicious/noExplicitAny: as above
type AnyEndpoint = Endpoint<any>;

function operationOf(endpoint: AnyEndpoint, schemas: Record<string, JsonSchema>): Operation {
  const body = bodyOf(endpoint);
  return {
    operationId: operationIdOf(endpoint),
    tags: [endpoint.area],
    summary: endpoint.summary,
    ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint)],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responsesOf(endpoint, schemas),
    security: securityOf(endpoint),
  };
}

/** `GET /projects/:id/repository/branches` as `getProjectsIdRepositoryBranches`. */
const operationIdOf = ({ method, path }: AnyEndpoint) =>
  method.toLowerCase() +
  path
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

function pathParameters(endpoint: AnyEndpoint): Parameter[] {
  const declared = factsOf(endpoint.params?.() ?? z.object({}))?.fields ?? {};
  return [...endpoint.path.matchAll(/[:*](\w+)/g)].map(([, name]) => {
    const field = declared[name!];
    const schema: JsonSchema = field === undefined ? { type: 'string' } : jsonSchemaOf(field);
    if (field === undefined && name === 'id' && aboutSubject(endpoint.access)) {
      schema.description = `Id, or percent-encoded full path, of the ${endpoint.access.kind}`;
    }
    return parameter(name!, 'path', schema, true);
  });
}

function queryParameters(endpoint: AnyEndpoint): Parameter[] {
  const parameters = new Map<string, Parameter>();
  const add = (schema: z.ZodType | undefined) => {
    for (const [name, field] of Object.entries((schema && factsOf(schema)?.fields) ?? {})) {
      const json = jsonSchemaOf(field);
      const named = json.type === 'array' || (Array.isArray(json.type) && json.type.includes('array'));
      const one = parameter(named ? `${name}[]` : name, 'query', json, factsOf(field)?.required === true);
      parameters.set(one.name, one);
    }
  };
  if (endpoint.paginate !== undefined) add(paginationParameters(endpoint.paginate, endpoint.keyset));
  add(endpoint.query?.());
  return [...parameters.values()];
}

function parameter(name: string, where: 'path' | 'query', json: JsonSchema, required: boolean): Parameter {
  const { description, ...schema } = json;
  return {
    name,
    in: where,
    required,
    ...(description === undefined ? {} : { description }),
    schema,
    ...(schema.type === 'object' ? { style: 'deepObject', explode: true } : {}),
    ...(schema.type === 'array' && where === 'query' ? { style: 'form', explode: true } : {}),
  };
}

function bodyOf(endpoint: AnyEndpoint): Operation['requestBody'] {
  if (endpoint.content !== undefined) {
    const schema: JsonSchema = { type: 'string', format: 'binary', description: endpoint.content };
    return { required: true, content: { 'application/octet-stream': { schema } } };
  }
  if (endpoint.body === undefined) return undefined;
  const schema = jsonSchemaOf(endpoint.body());
  const types = endpoint.dialect
    ? endpoint.dialect.takes
    : carriesFile(schema)
      ? ['multipart/form-data']
      : ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];
  const required = (schema.required ?? []).length > 0;
  const example = exampleBody(schema);
  const media = (type: string) =>
    example !== undefined && /json$/.test(type) ? { schema, example } : { schema };
  return { required, content: Object.fromEntries(types.map((type) => [type, media(type)])) };
}

const carriesFile = (schema: JsonSchema): boolean =>
  schema.format === 'binary' ||
  (schema.items !== undefined && carriesFile(schema.items)) ||
  Object.values(schema.properties ?? {}).some(carriesFile);

function responsesOf(
  endpoint: AnyEndpoint,
  schemas: Record<string, JsonSchema>,
): Record<string, ResponseObject> {
  const { returns, access } = endpoint;
  const responses: Record<string, ResponseObject> = {};
  const named = new Map<number, Set<keyof typeof ERRORS>>();
  const { dialect } = endpoint;
  const failure = dialect && bodySchema(dialect.failureShape(), schemas);
  const error = (status: number, description: string, ...names: (keyof typeof ERRORS)[]) => {
    const known = new Set([...(named.get(status) ?? []), ...names]);
    named.set(status, known);
    const earlier = responses[status]?.description;
    const [only, ...others] = [...known].map(reference);
    responses[status] = {
      description: earlier === undefined ? description : `${earlier}; ${description}`,
      content: {
        [dialect?.type ?? 'application/json']: {
          schema: failure ?? (others.length === 0 ? only! : { anyOf: [only!, ...others] }),
        },
      },
    };
  };
  const status = returns.status ?? (endpoint.method === 'POST' ? 201 : 200);
  const names = [
    ...(returns.headers ?? []),
    ...(endpoint.paginate === undefined ? [] : pageHeaderNames(endpoint)),
  ];
  const type = returns.type ?? endpoint.dialect?.type ?? 'application/json';
  const carries = endpoint.method !== 'HEAD' && status !== 204 && status !== 304;
  responses[status] = {
    description: returns.description ?? 'Done',
    ...(names.length === 0
      ? {}
      : { headers: Object.fromEntries(names.map((name) => [name, { schema: { type: 'string' } }])) }),
    ...(carries
      ? {
          content: {
            [type]: { schema: returns.body === undefined ? {} : bodySchema(returns.body(), schemas) },
          },
        }
      : {}),
  };
  if (returns.or !== undefined) {
    const { description, body } = returns.or;
    const schema = bodySchema(body(), schemas);
    responses[returns.or.status] = { description, content: { 'application/json': { schema } } };
  }
  if (returns.redirect !== undefined)
    responses[302] = {
      description: returns.redirect,
      headers: { Location: { schema: { type: 'string', format: 'uri' } } },
    };
  error(400, 'A parameter is missing or wrong', 'Error', 'Message');
  const signIn = access.kind === 'anyone' ? '' : 'Not signed in, or ';
  error(401, `${signIn}the token is not good`, 'Message', 'InvalidToken');
  error(403, 'Not allowed, or the token lacks the scope', 'Message', 'InsufficientScope');
  if (aboutSubject(access))
    error(404, `The ${access.kind} does not exist, or the caller may not know of it`, 'Message');
  if (/[:*]/.test(endpoint.path)) error(404, 'There is no such path', 'Error');
  if (endpoint.paginate !== undefined)
    error(
      405,
      'The page begins beyond what can be paged by offset, or keyset pagination is not available',
      'Error',
    );
  if (endpoint.body !== undefined) error(413, 'The body is too large', 'Message');
  error(429, 'Too many requests', 'Message');
  error(503, 'The service is in maintenance mode, or cannot answer now', 'Message');
  if (endpoint.method === 'DELETE' && dialect === undefined)
    error(412, 'Changed later than `If-Unmodified-Since` allows', 'Message');
  if (dialect !== undefined && endpoint.body !== undefined) error(415, 'Another type of body', 'Message');
  for (const { status: code, description } of endpoint.errors)
    if (code === 304) responses[code] = { description };
    else error(code, description, 'Message');
  // Limits of single actions answer as the API does, those of the whole instance in plain text.
  const limited = responses[429]!;
  const content = { ...limited.content, 'text/plain': { schema: { type: 'string' } } };
  responses[429] = { ...limited, headers: { 'Retry-After': { schema: { type: 'string' } } }, content };
  return responses;
}

const pageHeaderNames = ({ paginate }: AnyEndpoint): string[] =>
  paginate === 'keyset'
    ? ['Link']
    : ['Link', 'X-Page', 'X-Per-Page', 'X-Next-Page', 'X-Prev-Page', 'X-Total', 'X-Total-Pages'];

/** Schemas that have an id (`.meta({ id })`) are written once, under `components`. */
function bodySchema(schema: z.ZodType, schemas: Record<string, JsonSchema>): JsonSchema {
  const {
    $schema: _,
    $defs,
    ...json
  } = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'output' }) as JsonSchema & {
    $defs?: Record<string, JsonSchema>;
  };
  const hoist = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(hoist);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(
      Object.entries(part).map(([key, value]) =>
        key === '$ref' && typeof value === 'string'
          ? [key, value.replace('#/$defs/', '#/components/schemas/')]
          : [key, hoist(value)],
      ),
    );
  };
  for (const [name, definition] of Object.entries($defs ?? {})) {
    const { id: _id, ...rest } = definition;
    schemas[name] ??= withExamples(hoist(rest) as JsonSchema);
  }
  const id = z.globalRegistry.get(schema)?.id;
  if (id === undefined) return withExamples(hoist(json) as JsonSchema);
  const { id: _id, ...rest } = json;
  schemas[id] ??= withExamples(hoist(rest) as JsonSchema);
  return reference(id);
}

function securityOf({ access, scopes }: AnyEndpoint): Record<string, readonly string[]>[] {
  if (access.kind === 'other') return [{ bearer: [] }];
  // A token needs one of the scopes; each way to show it is an alternative of its own.
  const ways = Object.keys(SECURITY).flatMap((name) => scopes.map((scope) => ({ [name]: [scope] })));
  return mayBeAnonymous(access) ? [{}, ...ways] : ways;
}
