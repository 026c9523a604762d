import { readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { expect } from 'vitest';

/**
 * Checks an answer against a published JSON schema of the interface, by its path below `SCHEMAS_DIR`:
 * `public_api/v4/commit/basic` or, shorter, `commit/basic`. Without `SCHEMAS_DIR` nothing is checked, and the run
 * says so once. Properties that are newer than release 14.4 are optional (`POST_14_4_FIELDS.json`).
 */
export function expectSchema(name: string, value: unknown): void {
  const validate = validatorOf(name);
  if (validate === undefined) return;
  const valid = validate(value);
  const problems = (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
  );
  expect(problems, `${name}: ${JSON.stringify(value)?.slice(0, 2000)}`).toEqual([]);
  expect(valid).toBe(true);
}

const directory = process.env['SCHEMAS_DIR'];
let told = false;
let ajv: Ajv | undefined;

function validatorOf(name: string): ValidateFunction | undefined {
  if (directory === undefined || directory === '') {
    if (!told) process.stderr.write('SCHEMAS_DIR is not set: answers are not checked against JSON schemas\n');
    told = true;
    return undefined;
  }
  ajv ??= load(resolve(directory));
  const path = /^(public_api|types|status|release)\//.test(name) ? name : `public_api/v4/${name}`;
  return validator(ajv, resolve(directory), `${path}.json`);
}

function load(root: string): Ajv {
  // Written for several drafts and without a $schema: unknown keywords and formats are no errors.
  const made = new Ajv({ strict: false, allErrors: true, allowUnionTypes: true });
  formats.default(made);
  newer = JSON.parse(readFileSync(join(root, 'POST_14_4_FIELDS.json'), 'utf8')) as Newer;
  return made;
}

type Newer = Readonly<Record<string, string | readonly string[]>>;
let newer: Newer = {};

/** The schema of a file with all that it refers to, each under the address of its file. */
function validator(made: Ajv, root: string, path: string): ValidateFunction {
  add(made, root, path);
  const validate = made.getSchema(address(root, path));
  if (validate === undefined) throw new Error(`no schema ${path}`);
  return validate;
}

const address = (root: string, path: string) => pathToFileURL(join(root, path)).href;

function add(made: Ajv, root: string, path: string): void {
  const $id = address(root, path);
  if (Object.hasOwn(made.schemas, $id)) return;
  const schema = JSON.parse(fromRoot(readFileSync(join(root, path), 'utf8'), path)) as Record<
    string,
    unknown
  >;
  const { $schema: _, ...rest } = withoutNewer(schema, path);
  made.addSchema({ ...rest, $id });
  for (const reference of referencesOf(rest)) {
    const [file] = reference.split('#');
    if (file) add(made, root, posix.normalize(posix.join(posix.dirname(path), file)));
  }
}

/** Some references are relative to where the schemas come from: they are made relative to the file. */
const fromRoot = (text: string, path: string): string =>
  text.replaceAll(
    /(?:\.\.\/)+spec\/fixtures\/api\/schemas\//g,
    `${posix.relative(posix.dirname(path), '.') || '.'}/`,
  );

/** An object schema, or that of a list's items, in which newer properties are not required. */
function withoutNewer(schema: Record<string, unknown>, path: string): Record<string, unknown> {
  const fields = newer[path];
  const names = (Array.isArray(fields) ? (fields as string[]) : []).map((text) => text.split(' ')[0]);
  const loosen = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null) return part;
    const { required, items, ...others } = part as Record<string, unknown>;
    return {
      ...others,
      ...(Array.isArray(required) ? { required: required.filter((name) => !names.includes(name)) } : {}),
      ...(items === undefined ? {} : { items: loosen(items) }),
    };
  };
  return loosen(schema) as Record<string, unknown>;
}

function referencesOf(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : referencesOf(value),
  );
}
