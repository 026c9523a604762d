/** A response that a handler returns when a plain JSON value is not sufficient. */
export class Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReplyBody;

  constructor(status: number, headers: Readonly<Record<string, string>>, body: ReplyBody) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

export type ReplyBody = string | Uint8Array | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null;

/** @param options.type content type of the body */
export function reply(options: {
  status?: number;
  headers?: Readonly<Record<string, string>>;
  body?: ReplyBody;
  type?: string;
}): Reply {
  const type = options.type === undefined ? {} : { 'Content-Type': options.type };
  return new Reply(options.status ?? 200, { ...type, ...options.headers }, options.body ?? null);
}

/** A JSON value with a status or headers. */
export function json(
  value: unknown,
  options: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): Reply {
  return reply({ ...options, body: JSON.stringify(value), type: 'application/json' });
}

/** Characters, and about twelve for each value, of which JSON is made at once: a few milliseconds of work. */
export const AT_ONCE = 512 * 1024;
const VALUE = 12;

export const isLarge = (value: unknown): boolean => restOf(AT_ONCE, value) < 0;

/** What a value leaves of an amount; negative when it is more, of which not all is looked at then. */
function restOf(amount: number, value: unknown): number {
  if (typeof value === 'string') return amount - value.length;
  let left = amount - VALUE;
  if (typeof value !== 'object' || value === null) return left;
  for (const key in value) {
    left = restOf(left, (value as Record<string, unknown>)[key]);
    if (left < 0) break;
  }
  return left;
}

/** 204 without a body. */
export const noContent = (headers: Readonly<Record<string, string>> = {}): Reply =>
  reply({ status: 204, headers });

/** 202 `{"message":"202 Accepted"}`: the work is done in the background. */
export const accepted = (): Reply => json({ message: '202 Accepted' }, { status: 202 });

/** 304 without a body: the requested state already exists. */
export const notModified = (): Reply => reply({ status: 304 });
