import { Decimal } from './decimal.ts';

/** A value in the JSON 1.0 protocol: exactly one member is present. */
export interface Attribute {
  S?: string;
  /** A decimal number in its shortest form. */
  N?: string;
  /** Base64. */
  B?: string;
  BOOL?: boolean;
  NULL?: true;
  SS?: string[];
  NS?: string[];
  BS?: string[];
  L?: Attribute[];
  M?: Item;
}
export type Item = Record<string, Attribute>;
export type AttributeType = keyof Attribute;

/** The name of the one member. */
export function typeOf(value: Attribute): AttributeType {
  for (const type in value) return type as AttributeType;
  throw new TypeError('attribute value without a type');
}

/**
 * The size of an item in bytes, as limits and capacity count it: attribute names and values in UTF-8, about a byte for two
 * digits of a number, three bytes and one per element for a list or a map.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function itemSize(item: Item): number {
  let size = 0;
  for (const name in item) size += Buffer.byteLength(name) + valueSize(item[name]!);
  return size;
}

function valueSize(value: Attribute): number {
  switch (typeOf(value)) {
    case 'S':
      return Buffer.byteLength(value.S!);
    case 'N':
      return numberSize(value.N!);
    case 'B':
      return Buffer.byteLength(value.B!, 'base64');
    case 'SS':
      return value.SS!.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    case 'NS':
      return value.NS!.reduce((sum, number) => sum + numberSize(number), 0);
    case 'BS':
      return value.BS!.reduce((sum, bytes) => sum + Buffer.byteLength(bytes, 'base64'), 0);
    case 'L':
      return value.L!.reduce((sum, element) => sum + 1 + valueSize(element), 3);
    case 'M':
      return 3 + Object.keys(value.M!).length + itemSize(value.M!);
    default:
      return 1;
  }
}

function numberSize(number: string): number {
  const digits = number.replace(/^-?[0.]*|\.|(?:\.0*|0+)$/g, '').length;
  return 1 + Math.ceil(digits / 2) + (number.startsWith('-') ? 1 : 0);
}

/** Orders two numbers of up to 38 digits. */
function compareNumbers(a: string, b: string): number {
  if (a.length < 16 && b.length < 16) return Number(a) - Number(b);
  return new Decimal(a).cmp(b);
}

/** Orders two values of the same scalar type: numbers by value, strings by their UTF-8 bytes, binaries by bytes. */
export function compareScalars(a: Attribute, b: Attribute): number {
  if (a.N !== undefined) return compareNumbers(a.N, b.N!);
  if (a.S !== undefined) return Buffer.compare(Buffer.from(a.S), Buffer.from(b.S!));
  return Buffer.compare(Buffer.from(a.B!, 'base64'), Buffer.from(b.B!, 'base64'));
}

/** Whether two values are equal: sets regardless of order, lists and maps by their contents. */
export function equal(a: Attribute, b: Attribute): boolean {
  const type = typeOf(a);
  if (type !== typeOf(b)) return false;
  switch (type) {
    case 'N':
      return a.N === b.N || compareNumbers(a.N!, b.N!) === 0;
    case 'SS':
    case 'NS':
    case 'BS': {
      const left = a[type] as string[];
      const right = new Set(b[type]);
      return left.length === right.size && left.every((member) => right.has(member));
    }
    case 'L':
      return a.L!.length === b.L!.length && a.L!.every((element, index) => equal(element, b.L![index]!));
    case 'M': {
      const names = Object.keys(a.M!);
      return (
        names.length === Object.keys(b.M!).length &&
        names.every((name) => Object.hasOwn(b.M!, name) && equal(a.M![name]!, b.M![name]!))
      );
    }
    default:
      return a[type] === b[type];
  }
}

/** The value at a document path, if there is one. Own members only: an attribute may be named `constructor`. */
export function valueAt(item: Item, path: readonly (string | number)[]): Attribute | undefined {
  let value: Attribute | undefined = { M: item };
  for (const step of path) {
    if (value === undefined) return undefined;
    if (typeof step === 'number') value = value.L?.[step];
    else value = value.M && Object.hasOwn(value.M, step) ? value.M[step] : undefined;
  }
  return value;
}

/** The parts of an item that a projection names, at their paths; selected elements of a list move together. */
export function project(item: Item, paths: readonly (readonly (string | number)[])[]): Item {
  interface Node {
    whole?: Attribute;
    list?: boolean;
    parts: Map<string | number, Node>;
  }
  const root: Node = { parts: new Map() };
  for (const path of paths) {
    const value = valueAt(item, path);
    if (value === undefined) continue;
    let node = root;
    for (const step of path) {
      node.list = typeof step === 'number';
      let next = node.parts.get(step);
      if (!next) node.parts.set(step, (next = { parts: new Map() }));
      node = next;
    }
    node.whole = value;
  }
  const build = (node: Node): Attribute => {
    if (node.whole) return node.whole;
    if (node.list)
      return {
        L: [...node.parts].sort(([a], [b]) => (a as number) - (b as number)).map(([, part]) => build(part)),
      };
    return { M: Object.fromEntries([...node.parts].map(([name, part]) => [name, build(part)])) };
  };
  return root.parts.size ? build(root).M! : {};
}
