/** DynamoDB's wire form of values: the document client leaves the items inside exceptions in it. */
export type WireValue = Readonly<Record<string, unknown>>;

/** `{ n: { N: '1' } }` → `{ n: 1 }`. */
export function fromWire(item: Readonly<Record<string, WireValue>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plain(value)]));
}

function plain(value: WireValue): unknown {
  const [[type, content] = ['NULL', true]] = Object.entries(value);
  switch (type) {
    case 'N':
      return Number(content);
    case 'NULL':
      return null;
    case 'L':
      return (content as WireValue[]).map(plain);
    case 'M':
      return fromWire(content as Record<string, WireValue>);
    case 'SS':
    case 'BS':
      return new Set(content as unknown[]);
    case 'NS':
      return new Set((content as string[]).map(Number));
    default:
      return content;
  }
}
