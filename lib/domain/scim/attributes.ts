/** Parses the attributes of a user from a resource or from the operations of a patch. */
import { badRequest } from './errors.ts';
import { type AttributePath, type Comparison, NotReadable, parsePath } from './path.ts';

/** Absent attributes do not change; null removes a name. */
export interface ScimAttributes {
  externUid?: string;
  userName?: string;
  email?: string;
  formatted?: string | null;
  givenName?: string | null;
  familyName?: string | null;
  displayName?: string | null;
  active?: boolean;
}

type Json = unknown;

const LONGEST = 255;
const MAX_OPERATIONS = 100;
const MAX_VALUES = 100;

/**
 * Parses a complete resource. Unknown attributes are ignored.
 * @throws 400 `invalidValue`
 */
export function attributesOf(resource: Readonly<Record<string, Json>>): ScimAttributes {
  const attributes: ScimAttributes = {};
  for (const [name, value] of Object.entries(resource)) {
    const attribute = name.toLowerCase();
    // Read-only for the provider.
    if (attribute === 'id') continue;
    // A null value counts as absent (RFC 7643, 2.5), which removes a name.
    if (value !== null || attribute === 'displayname') set(attributes, { attribute }, value);
  }
  return attributes;
}

/**
 * Parses the operations of a patch, each applied to the result of those before it. Clients may send none.
 * @throws 400 `invalidSyntax`, `invalidPath`, `invalidValue`, `noTarget`, `mutability`
 */
export function patched(operations: Json): ScimAttributes {
  if (!Array.isArray(operations))
    throw badRequest('invalidSyntax', 'Operations must be a list of operations');
  if (operations.length > MAX_OPERATIONS)
    throw badRequest('invalidSyntax', `Operations are too many (maximum is ${MAX_OPERATIONS})`);
  const attributes: ScimAttributes = {};
  for (const operation of operations as Json[]) {
    if (!isObject(operation)) throw badRequest('invalidSyntax', 'An operation must be an object');
    apply(attributes, memberOf(operation, 'op'), memberOf(operation, 'path'), memberOf(operation, 'value'));
  }
  return attributes;
}

function apply(attributes: ScimAttributes, op: Json, path: Json, value: Json): void {
  const kind = typeof op === 'string' ? op.toLowerCase() : undefined;
  if (kind !== 'add' && kind !== 'replace' && kind !== 'remove')
    throw badRequest('invalidSyntax', 'op must be add, replace or remove');
  if (path !== undefined && path !== null && typeof path !== 'string')
    throw badRequest('invalidPath', 'path must be a string');
  const target = (path ?? '') === '' ? undefined : pathOf(path as string);
  if (kind === 'remove') {
    if (target === undefined) throw badRequest('noTarget', 'remove requires a path');
    unset(attributes, target);
    return;
  }
  if (value === undefined) throw badRequest('invalidValue', 'value is missing');
  if (target !== undefined) {
    set(attributes, target, value);
    return;
  }
  if (!isObject(value)) throw badRequest('invalidValue', 'Without a path, value must be an object');
  for (const [name, member] of Object.entries(value)) set(attributes, pathOf(name), member);
}

/** @throws 400 `invalidPath` */
function pathOf(text: string): AttributePath {
  try {
    return parsePath(text);
  } catch (error) {
    if (error instanceof NotReadable) throw badRequest('invalidPath', `path: ${error.message}`);
    throw error;
  }
}

const NAMES = { formatted: 'formatted', givenname: 'givenName', familyname: 'familyName' } as const;
const isName = (sub: string): sub is keyof typeof NAMES => Object.hasOwn(NAMES, sub);

function set(attributes: ScimAttributes, path: AttributePath, value: Json): void {
  const { attribute, sub } = path;
  switch (attribute) {
    case 'id':
    case 'externalid':
      attributes.externUid = textOf('externalId', value);
      break;
    case 'username':
      attributes.userName = textOf('userName', value);
      break;
    case 'active':
      attributes.active = booleanOf(value);
      break;
    case 'displayname':
      attributes.displayName = nameOf('displayName', value);
      break;
    case 'name':
      setName(attributes, sub, value);
      break;
    case 'emails': {
      const email = (sub === undefined || sub === 'value') && isWork(path) ? addressOf(value) : undefined;
      if (email !== undefined) attributes.email = textOf('emails', email);
    }
  }
}

function setName(attributes: ScimAttributes, sub: string | undefined, value: Json): void {
  if (sub !== undefined) {
    if (isName(sub)) attributes[NAMES[sub]] = nameOf(`name.${NAMES[sub]}`, value);
    return;
  }
  if (value === null) {
    unset(attributes, { attribute: 'name' });
    return;
  }
  if (typeof value === 'string') {
    attributes.formatted = nameOf('name', value);
    return;
  }
  if (!isObject(value)) throw badRequest('invalidValue', 'name must be an object or a string');
  for (const [member, text] of Object.entries(value)) setName(attributes, member.toLowerCase(), text);
}

/** Required attributes cannot be removed; removing an attribute that is not stored does nothing. */
function unset(attributes: ScimAttributes, path: AttributePath): void {
  const { attribute, sub } = path;
  const needed = ['id', 'externalid', 'username', 'active'].includes(attribute);
  if (needed || (attribute === 'emails' && (sub === undefined || sub === 'value') && isWork(path)))
    throw badRequest('mutability', `${attribute} cannot be removed`);
  if (attribute === 'displayname') attributes.displayName = null;
  if (attribute !== 'name') return;
  for (const [member, name] of Object.entries(NAMES))
    if (sub === undefined || sub === member) attributes[name] = null;
}

/** Whether a filter selects the one stored address: that of type `work`, or the first. */
export const isWork = ({ where = [] }: AttributePath): boolean => where.every(holdsForWork);

function holdsForWork({ path: { attribute, sub }, value }: Comparison): boolean {
  if (sub !== undefined) return false;
  if (attribute === 'type') return typeof value === 'string' && value.toLowerCase() === 'work';
  if (attribute === 'primary') return isTrue(value);
  return false;
}

/** Some clients send `"True"`. */
const isTrue = (value: Json): boolean =>
  value === true || (typeof value === 'string' && /^true$/i.test(value));

/** Selects one address: the primary, else that of type `work`, else one without a type. */
function addressOf(value: Json): Json {
  if (!Array.isArray(value)) return isObject(value) ? memberOf(value, 'value') : value;
  const values = (value as Json[]).slice(0, MAX_VALUES);
  if (values.every((one) => !isObject(one))) return values[0];
  const objects = values.filter(isObject);
  const selected =
    objects.find((one) => isTrue(memberOf(one, 'primary'))) ??
    objects.find((one) => String(memberOf(one, 'type')).toLowerCase() === 'work') ??
    objects.find((one) => (memberOf(one, 'type') ?? null) === null);
  if (selected === undefined) return undefined;
  const address = memberOf(selected, 'value');
  if (address === undefined) throw badRequest('invalidValue', 'emails must have a value');
  return address;
}

/** Some clients wrap a single value: `[{"value": "x"}]`. */
function single(value: Json): Json {
  const one = Array.isArray(value) && value.length === 1 ? (value[0] as Json) : value;
  return isObject(one) && memberOf(one, 'value') !== undefined ? memberOf(one, 'value') : one;
}

function textOf(name: string, value: Json): string {
  const text = single(value);
  if (typeof text !== 'string' || text.trim() === '')
    throw badRequest('invalidValue', `${name} must be a string`);
  if (text.length > LONGEST)
    throw badRequest('invalidValue', `${name} is too long (maximum is ${LONGEST} characters)`);
  // NUL separates the parts of keys, and unpaired surrogates cannot be stored.
  if (text.includes('\0') || !text.isWellFormed())
    throw badRequest('invalidValue', `${name} is not a valid string`);
  return text;
}

function nameOf(name: string, value: Json): string | null {
  const text = single(value);
  return text === null || (typeof text === 'string' && text.trim() === '') ? null : textOf(name, text);
}

function booleanOf(value: Json): boolean {
  const boolean = single(value);
  if (typeof boolean === 'boolean') return boolean;
  if (typeof boolean === 'string' && /^(true|false)$/i.test(boolean)) return boolean.toLowerCase() === 'true';
  throw badRequest('invalidValue', 'active must be true or false');
}

const isObject = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Attribute names are case-insensitive. */
export function memberOf(object: Readonly<Record<string, Json>>, name: string): Json {
  if (Object.hasOwn(object, name)) return object[name];
  const lowerCase = name.toLowerCase();
  return Object.entries(object).find(([member]) => member.toLowerCase() === lowerCase)?.[1];
}
