/** Values as DynamoDB's JSON protocol writes them, and back. */

type Item = Readonly<Record<string, unknown>>;
/** `{ N: '1' }`: one member, whose name is the type. */
export type WireValue = Readonly<Record<string, unknown>>;
export type WireItem = Readonly<Record<string, WireValue>>;

/** `{ n: 1 }` → `{ n: { N: '1' } }`. Undefined values are left out. @throws TypeError for what no row can hold */
export function toWire(item: Item): WireItem {
  const wire: Record<string, WireValue> = {};
  for (const name in item) {
    const value = item[name];
    if (value !== undefined) setMember(wire, name, wired(value));
  }
  return wire;
}

function wired(value: unknown): WireValue {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'number':
      return { N: numeral(value) };
    case 'boolean':
      return { BOOL: value };
    case 'object':
      break;
    default:
      throw new TypeError(`a ${typeof value} in a row`);
  }
  if (value === null) return { NULL: true };
  if (Array.isArray(value)) return { L: value.filter((each) => each !== undefined).map(wired) };
  if (value instanceof Uint8Array) return { B: base64(value) };
  if (value instanceof Set) return setOf([...value]);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw new TypeError('an object of a class in a row');
  return { M: toWire(value as Item) };
}

function setOf(members: readonly unknown[]): WireValue {
  if (members.length === 0) throw new TypeError('an empty set in a row');
  if (members.every((member) => typeof member === 'string')) return { SS: members };
  if (members.every((member) => typeof member === 'number')) return { NS: members.map(numeral) };
  throw new TypeError('a set of several types in a row');
}

function numeral(value: number): string {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) throw new RangeError(`the number ${value} in a row`);
  return String(value);
}

const base64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

/** `{ n: { N: '1' } }` → `{ n: 1 }`. */
export function fromWire(item: WireItem): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const name in item) setMember(plain, name, plainOf(item[name]!));
  return plain;
}

/** Users name members of maps: `__proto__` is a name like any other. */
function setMember<T>(object: Record<string, T>, name: string, value: T): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  else object[name] = value;
}

function plainOf(value: WireValue): unknown {
  for (const type in value) {
    const content = value[type];
    switch (type) {
      case 'N':
        return Number(content);
      case 'NULL':
        return null;
      case 'B':
        return bytesOf(content as string);
      case 'L':
        return (content as WireValue[]).map(plainOf);
      case 'M':
        return fromWire(content as WireItem);
      case 'SS':
        return new Set(content as string[]);
      case 'NS':
        return new Set((content as string[]).map(Number));
      default:
        return content;
    }
  }
  return undefined;
}

function bytesOf(text: string): Uint8Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(text, 'base64');
  return new Uint8Array(buffer, byteOffset, byteLength);
}
