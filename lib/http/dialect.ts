/**
 * Interfaces in addition to the REST API that differ in media types and in the shape of errors, such as SCIM. Their
 * endpoints are declared like all others, and rules raise the same errors.
 */
import type * as z from 'zod';
import { HttpFailure } from './errors.ts';
import { Reply } from './reply.ts';

export interface Dialect {
  /** Media type of every response. */
  readonly type: string;
  /** Media types of request bodies; 415 for others. */
  readonly takes: readonly string[];
  /**
   * Makes the body of an error response.
   * @param detail a sentence for the caller
   * @param extra further fields of the error
   */
  readonly failure: (status: number, detail: string, extra: Readonly<Record<string, unknown>>) => object;
  readonly failureShape: () => z.ZodType;
}

/** @throws HttpFailure 415 for a media type that the dialect does not accept */
export function requireMediaType({ takes }: Dialect, request: Request): void {
  if (request.body === null) return;
  const type = (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  if (!takes.includes(type))
    throw new HttpFailure(415, { error: `Content-Type must be ${takes.join(' or ')}` });
}

/** Converts a response to the dialect. */
export function inDialect(dialect: Dialect, answer: Reply): Reply {
  const { status, headers, body } = answer;
  if (status < 400) {
    if (headers['Content-Type'] !== 'application/json') return answer;
    return new Reply(status, { ...headers, 'Content-Type': dialect.type }, body);
  }
  const { detail, extra } = errorIn(answer);
  const converted = JSON.stringify(dialect.failure(status, detail, extra));
  return new Reply(status, { ...headers, 'Content-Type': dialect.type }, converted);
}

/** The text and further fields of an error response. */
function errorIn({ body, headers }: Reply): { detail: string; extra: Readonly<Record<string, unknown>> } {
  const text = typeof body === 'string' ? body : '';
  if (headers['Content-Type'] !== 'application/json') return { detail: text, extra: {} };
  const { message, error, ...extra } = JSON.parse(text) as Record<string, unknown>;
  return { detail: sentence(message ?? error), extra };
}

/** Problems by field, or a list of sentences, as one sentence. */
function sentence(message: unknown): string {
  if (typeof message !== 'object' || message === null) return String(message);
  if (Array.isArray(message)) return message.map(sentence).join('; ');
  return Object.entries(message)
    .map(([field, problems]) => `${field} ${[problems].flat().map(sentence).join(', ')}`)
    .join('; ');
}
