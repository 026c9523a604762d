/** Examples for the OpenAPI document, made from the names and formats of fields where these say enough. */
import type { JsonSchema } from './field-facts.ts';

const SHA = '6104942438c14ec7bd21c6cd5bd995272b3faff6';

/** Texts by the name of their field; the first pattern that fits counts. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^user_?name$/i, 'ann'],
  [/(^|_)email$/, 'ann@example.com'],
  [/^(author|committer|user|full)_name$/, 'Ann'],
  [/^(path_with_namespace|full_path)$/, 'group/project'],
  [/^http_url_to_repo$/, 'https://git.example.com/group/project.git'],
  [/^ssh_url_to_repo$/, 'git@git.example.com:group/project.git'],
  [/(^|_)url$/, 'https://git.example.com/group/project'],
  [/^short_id$/, SHA.slice(0, 8)],
  [/(^|_)sha\d*$|^(commit|blob|last_commit)_id$/, SHA],
  [/^(ref|branch|default_branch|start_branch|target_branch|source_branch|branch_name)$/, 'main'],
  [/^tag_name$/, 'v1.0.0'],
  [/^(file|old|new|previous)_path$/, 'docs/readme.md'],
  [/^(commit_)?message$/, 'Fix the build'],
  [/^[ab]?_?mode$/, '100644'],
  [/^ip_address$/, '203.0.113.7'],
];

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-02T03:04:05.000Z',
  date: '2026-01-02',
  email: 'ann@example.com',
};

/** Adds an example to each named text of a schema, at any depth. */
export function withExamples(schema: JsonSchema): JsonSchema {
  const walk = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(
      Object.entries(part).map(([key, value]) => [
        key,
        key === 'properties'
          ? propertiesWithExamples(value as Record<string, JsonSchema>, walk)
          : walk(value),
      ]),
    );
  };
  return walk(schema) as JsonSchema;
}

function propertiesWithExamples(
  properties: Record<string, JsonSchema>,
  walk: (part: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const text = takes(schema, 'string') ? textOf(name, schema) : undefined;
      const walked = walk(schema) as JsonSchema;
      return [name, text === undefined ? walked : { ...walked, examples: [text] }];
    }),
  );
}

/**
 * A body that is accepted as it is, as far as the schema tells: the required fields, or the first simple one where none is
 * required. Undefined for a schema without fields, and for one that needs a file.
 */
export function exampleBody(schema: JsonSchema): Record<string, unknown> | undefined {
  const properties = Object.entries(schema.properties ?? {});
  const required = properties.filter(([name]) => schema.required?.includes(name));
  const simple = properties.filter(([, field]) =>
    ['string', 'boolean', 'integer'].some((type) => takes(field, type)),
  );
  const shown = required.length > 0 ? required : simple.slice(0, 1);
  if (shown.length === 0 || shown.some(([, field]) => field.format === 'binary')) return undefined;
  return Object.fromEntries(shown.map(([name, field]) => [name, exampleValue(name, field)]));
}

function exampleValue(name: string, schema: JsonSchema): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  if (takes(schema, 'string')) return textOf(name, schema) ?? 'string';
  if (takes(schema, 'integer') || takes(schema, 'number')) return schema.minimum ?? 1;
  if (takes(schema, 'boolean')) return true;
  if (takes(schema, 'array')) return schema.items === undefined ? [] : [exampleValue(name, schema.items)];
  return exampleBody(schema) ?? {};
}

function textOf(name: string, schema: JsonSchema): string | undefined {
  if (schema.enum !== undefined) return undefined;
  const format = schema.format ?? alternatives(schema).find((one) => one.format !== undefined)?.format;
  if (format !== undefined) return FORMATS[format];
  return TEXTS.find(([pattern]) => pattern.test(name))?.[1];
}

const takes = (schema: JsonSchema, type: string): boolean =>
  [schema, ...alternatives(schema)].some((one) =>
    Array.isArray(one.type) ? one.type.includes(type) : one.type === type,
  );

const alternatives = ({ anyOf }: JsonSchema): readonly JsonSchema[] => (Array.isArray(anyOf) ? anyOf : []);
