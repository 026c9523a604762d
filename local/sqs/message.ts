import { createHash } from 'node:crypto';

/** As the JSON protocol carries it: binary values in base64. */
interface MessageAttribute {
  DataType: string;
  StringValue?: string;
  BinaryValue?: string;
}

export type MessageAttributes = Record<string, MessageAttribute>;

export interface Message {
  id: string;
  body: string;
  attributes: MessageAttributes;
  /** Milliseconds since the epoch, like all times here. */
  sentAt: number;
  receiveCount: number;
  firstReceivedAt?: number;
  /** When it may be received (again). */
  visibleAt: number;
  /** Of the latest delivery in this process. */
  receipt?: string;
  /** ARN of the queue it was given up by. */
  deadLetterSource?: string;
}

export const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/**
 * The digest that lets the client check attributes: by name, each of name, type and value with its length
 * before it (SQS developer guide, "Calculating the MD5 message digest for message attributes").
 */
export function md5OfAttributes(attributes: MessageAttributes): string | undefined {
  const names = Object.keys(attributes).sort();
  if (names.length === 0) return undefined;
  const hash = createHash('md5');
  const add = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  };
  for (const name of names) {
    const { DataType, StringValue = '', BinaryValue = '' } = attributes[name]!;
    const binary = DataType.startsWith('Binary');
    add(Buffer.from(name));
    add(Buffer.from(DataType));
    hash.update(Buffer.from([binary ? 2 : 1]));
    add(binary ? Buffer.from(BinaryValue, 'base64') : Buffer.from(StringValue));
  }
  return hash.digest('hex');
}

/** Bytes that count against the limit of a message: the body and the names, types and values of attributes. */
export function sizeOf(body: string, attributes: MessageAttributes): number {
  return Object.entries(attributes).reduce(
    (sum, [name, { DataType, StringValue = '', BinaryValue = '' }]) =>
      sum +
      Buffer.byteLength(name) +
      Buffer.byteLength(DataType) +
      Buffer.byteLength(StringValue) +
      Buffer.byteLength(BinaryValue, 'base64'),
    Buffer.byteLength(body),
  );
}
