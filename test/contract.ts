/**
 * Compares the OpenAPI document with the contract of the specification texts (`endpoints.json`): by method, path and
 * parameter. Names of path parameters do not count, their places do.
 */
import type { JsonSchema } from '../lib/http/field-facts.ts';
import type { OpenApiDocument, Operation } from '../lib/http/openapi-document.ts';

/** As `endpoints.json` writes it; the members that are compared. */
export interface ContractEndpoint {
  readonly id: string;
  readonly area: string;
  readonly method: string;
  /** `/projects/:id/...` */
  readonly path: string;
  readonly params: readonly ContractParameter[];
}

export interface ContractParameter {
  /** `name`, `name[]`, `name[key]` or `name[][key]` */
  readonly name: string;
  readonly in: 'path' | 'query' | 'body' | 'header';
  readonly type: 'string' | 'integer' | 'boolean' | 'enum' | 'array' | 'hash' | 'datetime' | 'date' | 'file';
  /** False: the type is inferred from the name, a default or the listed values. */
  readonly typeStated: boolean;
  readonly required: boolean;
  readonly note?: string | null;
  readonly enum: readonly unknown[] | null;
}

interface ParameterProblem {
  /** Id of the contract's endpoint. */
  readonly endpoint: string;
  readonly parameter: string;
  readonly problem: string;
}

export interface Comparison {
  /** Endpoints of the contract that the document has not. */
  readonly missing: readonly ContractEndpoint[];
  /** Of those it has: parameters that are missing. */
  readonly missingParameters: readonly ParameterProblem[];
  /** Of those it has: parameters of another type, with other values, or required where they are not. */
  readonly mistyped: readonly ParameterProblem[];
  /** `GET /path` of operations the contract does not name; no mistake, but worth a look. */
  readonly beyond: readonly string[];
}

export function compareWithContract(
  document: OpenApiDocument,
  contract: readonly ContractEndpoint[],
): Comparison {
  const operations = new Map<string, { readonly label: string; readonly operation: Operation }>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const label = `${method.toUpperCase()} ${path}`;
      operations.set(shapeOf(label), { label, operation });
    }
  }
  const missing: ContractEndpoint[] = [];
  const missingParameters: ParameterProblem[] = [];
  const mistyped: ParameterProblem[] = [];
  const named = new Set<string>();
  const shapeIn = ({ method, path }: ContractEndpoint) => shapeOf(`${method} ${path}`);
  // Several of one path are kinds of one endpoint: what it requires is what all of them require.
  const kinds = Map.groupBy(contract, shapeIn);
  const isRequired = (shape: string, name: string) =>
    kinds.get(shape)!.every(({ params }) => params.some((param) => param.name === name && param.required));
  for (const endpoint of contract) {
    const shape = shapeIn(endpoint);
    // HEAD is served by every GET.
    const found = operations.get(shape) ?? operations.get(shape.replace(/^HEAD /, 'GET '));
    if (found === undefined) {
      missing.push(endpoint);
      continue;
    }
    named.add(shape);
    const known = parametersOf(found.operation);
    for (const parameter of endpoint.params) {
      if (parameter.in === 'path' || parameter.in === 'header') continue;
      const about = { endpoint: endpoint.id, parameter: parameter.name };
      const ours = known.get(plain(parameter.name));
      if (ours === undefined && isMemberOfAny(known, plain(parameter.name))) continue;
      if (ours === undefined) missingParameters.push({ ...about, problem: 'is missing' });
      else {
        const required = isRequired(shape, parameter.name);
        const problems = differences({ ...parameter, required }, ours);
        mistyped.push(...problems.map((problem) => ({ ...about, problem })));
      }
    }
  }
  const beyond = [...operations].filter(([shape]) => !named.has(shape)).map(([, { label }]) => label);
  return { missing, missingParameters, mistyped, beyond };
}

/** Method and path with every parameter as `{}`. */
const shapeOf = (line: string) => line.replace(/:\w+|\*\w+|\{\w+\}/g, '{}').replace(/\/$/, '');

/** `files[][action]` as `files[action]`: a list's own brackets do not tell names apart. */
const plain = (name: string) => name.replaceAll('[]', '');

/** `custom_attributes[key]` of an object that takes any member. */
function isMemberOfAny(known: ReadonlyMap<string, Known>, name: string): boolean {
  const parent = known.get(name.replace(/\[\w+\]$/, ''))?.schema;
  return parent !== undefined && (parent.items ?? parent).additionalProperties === true;
}

interface Known {
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** Query and body together: the interface takes parameters from either. */
function parametersOf(operation: Operation): Map<string, Known> {
  const known = new Map<string, Known>();
  const add = (name: string, schema: JsonSchema, required: boolean): void => {
    known.set(plain(name), { schema, required });
    const inner = typesOf(schema).includes('array') ? schema.items : schema;
    for (const [member, of] of Object.entries(inner?.properties ?? {})) {
      add(`${name}[${member}]`, of, inner?.required?.includes(member) ?? false);
    }
  };
  for (const { name, schema, required, in: where } of operation.parameters) {
    if (where === 'query') add(name, schema, required);
  }
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  for (const [name, schema] of Object.entries(body?.properties ?? {})) {
    add(name, schema, body?.required?.includes(name) ?? false);
  }
  return known;
}

const typesOf = ({ type }: JsonSchema): readonly string[] =>
  (Array.isArray(type) ? type : type === undefined ? [] : [type]).filter((one) => one !== 'null');

function differences(theirs: ContractParameter, ours: Known): string[] {
  const problems: string[] = [];
  if (!isOfType(theirs, ours.schema)) {
    problems.push(`should be ${theirs.type} and is ${JSON.stringify(ours.schema.type ?? 'anything')}`);
  }
  const values = ours.schema.enum ?? ours.schema.items?.enum;
  const lacking = values === undefined ? [] : (theirs.enum ?? []).filter((value) => !values.includes(value));
  if (lacking.length > 0) problems.push(`does not take ${lacking.join(', ')}`);
  if (theirs.required && !ours.required) problems.push('should be required');
  const stated = !/required or optional not stated/.test(theirs.note ?? '');
  if (!theirs.required && ours.required && stated) problems.push('should not be required');
  return problems;
}

function isOfType({ type, typeStated, enum: values }: ContractParameter, schema: JsonSchema): boolean {
  const types = typesOf(schema);
  // Whatever is stored and returned as it is takes any type.
  if (types.length === 0) return true;
  switch (type) {
    case 'string':
      return typeStated ? types.includes('string') : true;
    case 'enum':
      // A filter that the specification knows as "true" alone is a boolean: clients send each of its spellings.
      if (types.includes('boolean')) return values?.every((value) => value === 'true') ?? false;
      return schema.enum !== undefined || schema.items?.enum !== undefined || types.includes('array');
    case 'array':
    case 'boolean':
    case 'integer':
      return types.includes(type);
    case 'hash':
      return types.includes('object');
    case 'datetime':
      return schema.format === 'date-time';
    case 'date':
      return schema.format === 'date' || schema.format === 'date-time';
    case 'file':
      return schema.format === 'binary';
  }
}
